import type { LockerMetadata } from '@svc/api/lockers'
import { isoSeconds } from '@svc/protocol/evidence'
import type { Db } from '../db/schema.ts'
import { findAttestation } from './store.ts'

/** Where the attestation of a receipt stands; null when nobody ever asked for one. */
export async function attestationSummary(db: Db, receiptId: string): Promise<LockerMetadata['attestation']> {
  const known = await findAttestation(db, receiptId)
  if (!known) return null
  const { status, sequence, attested_at, proof_id } = known
  return {
    status: status ?? 'complete',
    evidence_seq: sequence,
    attested_at: attested_at === null ? null : isoSeconds(attested_at),
    proof_id,
  }
}
