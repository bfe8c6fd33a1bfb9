import { isManifestSignedBy } from '@svc/protocol/attestation'
import { type AttestationFacts, type VerificationFacts, verificationFacts } from '@svc/protocol/facts'
import type { Ed25519Verifier } from '@svc/protocol/keys'
import type { AttestationRecord, StatementRecord } from '../attestations/record.ts'
import type { Context } from '../context.ts'
import type { KeysAt } from '../info/keys-at.ts'
import type { Evidence } from './read-evidence.ts'

/** Facts are checked with the gateway's keys, old and new. */
export type FactsContext = Context & { keysAt: KeysAt }

/** Checked against the key that was in use when the statement was made (ADD-07). */
export async function factsOf(context: FactsContext, { record, isPending }: Pick<Evidence, 'record' | 'isPending'>) {
  const { domainTag } = context.config.evidence
  if (!record) return verificationFacts(isPending ? PENDING : null, { key: null, domainTag })
  return recordFacts(context, record)
}

async function recordFacts(context: FactsContext, of: AttestationRecord): Promise<VerificationFacts> {
  const { domainTag } = context.config.evidence
  const { status, record, anchor, anchorError } = of
  const facts: AttestationFacts = {
    attestation_status: status,
    merkle_root: record.merkle_root,
    manifest_signature: record.manifest_signature,
    envelope: record.envelope ?? null,
    anchor: anchor && { tx: anchor.tx, ...(anchor.finalized && { finalized: true }) },
    oracle_tx: record.oracle_tx,
    last_anchor_error: anchorError,
    check_mode: record.check_mode ?? null,
  }
  return verificationFacts(facts, { key: await signingKey(context, record), domainTag })
}

const PENDING: AttestationFacts = {
  attestation_status: 'pending',
  merkle_root: null,
  manifest_signature: null,
  envelope: null,
  anchor: null,
  check_mode: null,
}

/** Ours that the envelope names; before envelopes, the one that fits. Null when it is none of ours. */
async function signingKey({ keysAt }: FactsContext, record: StatementRecord): Promise<Ed25519Verifier | null> {
  const keys = await keysAt(issuedAt(record))
  if (record.envelope) return keys.get(record.envelope.issuer_pubkey ?? '') ?? null
  const { merkle_root, manifest_signature } = record
  return [...keys.values()].find((key) => isManifestSignedBy(key, merkle_root, manifest_signature)) ?? null
}

/** Unix seconds. */
function issuedAt({ envelope, attested_at }: StatementRecord): number {
  return envelope?.body.issued_at_unix ?? Math.floor(Date.parse(attested_at) / 1000)
}
