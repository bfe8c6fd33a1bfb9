// The verification facts: eight separate answers about one attestation record, never combined into one flag.

import { isManifestSignedBy, isUnsigned } from './attestation.ts'
import { type CheckMode, type EvidenceEnvelope, isStatementSignedBy } from './evidence.ts'
import type { Ed25519Verifier } from './keys.ts'

export type FactValue = 'passed' | 'failed' | 'not_checked' | 'unavailable'

export const FACTS = [
  'commitment_computed',
  'signature_valid',
  'anchor_submitted',
  'anchor_confirmed',
  'anchor_finalized',
  'payment_verified',
  'bytes_checked',
  'witness',
] as const

export type VerificationFacts = Record<(typeof FACTS)[number], FactValue>

/** The fields of a stored record that the facts depend on. */
export interface AttestationFacts {
  /** Absent from records that are older than this field. */
  attestation_status?: 'pending' | 'computed' | 'pushing' | 'complete' | null
  merkle_root: string | null
  manifest_signature: string | null
  envelope: EvidenceEnvelope | null
  anchor: { tx: string; finalized?: boolean } | null
  /** The transaction of an oracle-era record, used only if there is no anchor object (ANCH-10). */
  oracle_tx?: string | null
  last_anchor_error?: object | null
  check_mode: CheckMode | null
}

/** The gateway's own key for the record, and the domain tag of its signatures. */
export interface StatementKey {
  key: Ed25519Verifier | null
  domainTag: string
}

export function verificationFacts(record: AttestationFacts | null, own: StatementKey): VerificationFacts {
  return {
    commitment_computed: commitmentComputed(record),
    signature_valid: signatureValid(record, own),
    anchor_submitted: anchorTx(record) || record?.attestation_status === 'pushing' ? 'passed' : 'not_checked',
    anchor_confirmed: anchorConfirmed(record),
    anchor_finalized: record?.anchor?.finalized ? 'passed' : 'not_checked',
    payment_verified: 'not_checked',
    bytes_checked: record?.check_mode === 'bytes_hashed' ? 'passed' : 'not_checked',
    witness: 'not_checked',
  }
}

/** The legacy boolean: a record exists and is not pending. */
export function isVerified(record: AttestationFacts | null): boolean {
  return record !== null && record.attestation_status !== 'pending'
}

function commitmentComputed(record: AttestationFacts | null): FactValue {
  if (!record) return 'not_checked'
  return record.merkle_root ? 'passed' : 'failed'
}

function signatureValid(record: AttestationFacts | null, { key, domainTag }: StatementKey): FactValue {
  if (!record?.merkle_root) return 'not_checked'
  if (record.envelope) {
    if (record.envelope.sig_alg === 'none') return 'not_checked'
    return key && isStatementSignedBy(key, record.envelope, domainTag) ? 'passed' : 'failed'
  }
  if (!record.manifest_signature || isUnsigned(record.manifest_signature)) return 'not_checked'
  const signed = key && isManifestSignedBy(key, record.merkle_root, record.manifest_signature)
  return signed ? 'passed' : 'unavailable'
}

function anchorConfirmed(record: AttestationFacts | null): FactValue {
  const isFinal = !record?.attestation_status || record.attestation_status === 'complete'
  if (anchorTx(record)) return isFinal ? 'passed' : 'not_checked'
  return record?.last_anchor_error ? 'failed' : 'not_checked'
}

function anchorTx(record: AttestationFacts | null): string | null {
  return record?.anchor ? record.anchor.tx : (record?.oracle_tx ?? null)
}
