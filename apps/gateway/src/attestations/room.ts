import type { Context } from '../context.ts'
import type { PublishingCosts } from '../info/publishing-costs.ts'
import { type Attest, createAttest } from './attest.ts'
import { createAutoReattest, type ManifestChanged } from './auto-reattest.ts'
import type { Publishing } from './publishing.ts'

interface Needs extends Publishing {
  publishingCosts: PublishingCosts
}

export interface AttestationsContext extends Context, Needs {
  /** Brings the statements of a receipt up to date. */
  attest: Attest
  manifestChanged: ManifestChanged
}

export function createAttestations(
  context: Context,
  { publisher, queueEntry, push, publishingCosts }: Needs,
  databaseUrl: string,
): AttestationsContext {
  return {
    ...context,
    publisher,
    queueEntry,
    push,
    publishingCosts,
    attest: createAttest({ ...context, publisher, queueEntry }, databaseUrl),
    manifestChanged: createAutoReattest(context),
  }
}
