import { type SingleFlight, singleFlight } from '@svc/concurrency/sharing'
import type { Secrets } from '../config.ts'
import type { Context } from '../context.ts'
import type { AttestRun } from './attest.ts'
import { type LockerReading, openLockerReading } from './read-locker.ts'
import { openProofCache, type ProofCache } from './snapshots/prove-file.ts'

interface AttestationsState {
  attestRuns: SingleFlight<AttestRun>
  lockerReading: LockerReading
  proofCache: ProofCache
}

declare module '../context.ts' {
  interface Context extends AttestationsState {}
}

export function openAttestations(context: Context, { databaseUrl }: Pick<Secrets, 'databaseUrl'>): AttestationsState {
  return {
    attestRuns: singleFlight(),
    lockerReading: openLockerReading(context.providers, databaseUrl),
    proofCache: openProofCache(),
  }
}
