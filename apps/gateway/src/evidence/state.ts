import type { Secrets } from '../config.ts'
import type { Context } from '../context.ts'
import { type Attest, createAttest } from './attest.ts'

interface AttestationsState {
  /** Brings the statements of a receipt up to date. */
  attest: Attest
}

declare module '../context.ts' {
  interface Context extends AttestationsState {}
}

export function openAttestations(context: Context, { databaseUrl }: Pick<Secrets, 'databaseUrl'>): AttestationsState {
  return { attest: createAttest(context, databaseUrl) }
}
