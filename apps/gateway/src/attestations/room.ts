import type { Context } from '../context.ts'
import type { Locker, Tx } from '../db/schema.ts'
import type { PublishingCosts } from '../info/publishing-costs.ts'
import { type Attest, createAttest } from './attest.ts'
import type { Publishing } from './publishing.ts'

interface Needs extends Publishing {
  publishingCosts: PublishingCosts
}

/** Called in the transaction that confirms files. */
type ManifestChanged = (tx: Tx, locker: Pick<Locker, 'receipt_id'>) => Promise<'queued' | 'off'>

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

/** Files are often confirmed one after the other: one statement covers all of them. */
const GATHER_SECONDS = 2

/** A locker that was never attested counts as changed, too (AMB-59). */
function createAutoReattest({ config, queue }: Context): ManifestChanged {
  if (!config.attestations.isAutomatic) return async () => 'off'
  return async (tx, { receipt_id }) => {
    await queue.enqueue(tx, 'attest', { receipt_id }, { key: receipt_id, delaySeconds: GATHER_SECONDS })
    return 'queued'
  }
}
