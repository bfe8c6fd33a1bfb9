// The evidence of a receipt: its newest statement, or the one with a given sequence, and the facts about it.

import { isManifestSignedBy } from '@svc/protocol/attestation'
import { type AttestationFacts, type VerificationFacts, verificationFacts } from '@svc/protocol/facts'
import type { Ed25519Verifier } from '@svc/protocol/keys'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { receiptNotFound } from '../../auth/errors.ts'
import { limitAnonymous } from '../../auth/limits.ts'
import type { Context } from '../../context.ts'
import { notAttested } from '../../evidence/errors.ts'
import { type AttestationRecord, attestationRecord, type StatementRecord } from '../../evidence/record.ts'
import { documentIdsOf } from '../../evidence/statements.ts'
import { isLong } from '../../evidence/view.ts'
import type { SigningKeyAt } from '../../keys/keys-at.ts'
import { isLoggedBefore } from '../../publication/log/store.ts'
import { type AttestationState, findEvidence } from './store.ts'

export interface Evidence {
  receipt: SignedReceipt
  /** Null before the first statement, including while it is being computed. */
  record: AttestationRecord | null
  isPending: boolean
  state: AttestationState
}

export type Attested = Evidence & { record: AttestationRecord }

export async function readEvidence(context: Context, receiptId: string, sequence?: number): Promise<Evidence> {
  const found = await findEvidence(context.database.db, receiptId, sequence)
  if (!found) throw receiptNotFound(context.continuity)
  const { receipt, state, statement } = found
  if (!statement && sequence !== undefined) throw statementNotFound(receiptId, sequence)
  const record = statement && attestationRecord(statement, state)
  await context.continuity.requireWritten({ kind: 'receipt', key: receiptId }, ...(record ? documentIdsOf(record) : []))
  return {
    receipt: JSON.parse(receipt),
    record,
    isPending: !statement && state.status === 'pending',
    state,
  }
}

/** Throws if there is no statement yet. */
export async function readAttested(context: Context, receiptId: string, sequence?: number): Promise<Attested> {
  const { record, ...evidence } = await readEvidence(context, receiptId, sequence)
  if (!record) throw notAttested(receiptId, evidence)
  return { ...evidence, record }
}

/** Checks the signature with the key that was in use when the statement was made (ADD-07). */
export async function factsOf(
  context: Context,
  { record: of, isPending }: Pick<Evidence, 'record' | 'isPending'>,
): Promise<VerificationFacts> {
  const { domainTag } = context.config.evidence
  if (!of) return verificationFacts(isPending ? PENDING : null, { key: null, domainTag })
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
  return verificationFacts(facts, { key: await signingKey(context, of), domainTag })
}

const PENDING: AttestationFacts = {
  attestation_status: 'pending',
  merkle_root: null,
  manifest_signature: null,
  envelope: null,
  anchor: null,
  check_mode: null,
}

/**
 * The gateway's key that signed the statement. Null if it is not a key of this gateway, and for a key revoked later
 * unless something besides the statement dates it before the revocation (ADD-39).
 */
async function signingKey(context: Context, of: AttestationRecord): Promise<Ed25519Verifier | null> {
  const key = namedKey(await context.keysAt(issuedAt(of.record)), of.record)
  if (!key) return null
  const { verifier, revokedSince } = key
  return revokedSince === null || (await isOnChainBefore(context, of, revokedSince)) ? verifier : null
}

/** A record of the oracle era names no key, so each key is tried. */
function namedKey(keys: ReadonlyMap<string, SigningKeyAt>, record: StatementRecord): SigningKeyAt | undefined {
  if (record.envelope) return keys.get(record.envelope.issuer_pubkey ?? '')
  const { merkle_root, manifest_signature } = record
  return [...keys.values()].find(({ verifier }) => isManifestSignedBy(verifier, merkle_root, manifest_signature))
}

/** By its own anchor, or by the anchor of a checkpoint of the log. */
async function isOnChainBefore({ database }: Context, of: AttestationRecord, unixSeconds: number): Promise<boolean> {
  const { anchor, record } = of
  if (anchor?.finalized && (anchor.block_time ?? unixSeconds) < unixSeconds) return true
  return !!record.envelope && isLoggedBefore(database.db, record.envelope.statement_digest, unixSeconds)
}

/** Unix seconds. */
function issuedAt({ envelope, attested_at }: StatementRecord): number {
  return envelope?.body.issued_at_unix ?? Math.floor(Date.parse(attested_at) / 1000)
}

/** Reading this many files takes about a tenth of a second. */
const FILES_PER_REQUEST = 50_000

/**
 * A million files take seconds to answer, so a long answer counts as many requests (T-10). `filesRead` is for answers
 * that read only some of the files.
 */
export async function limitLong(
  context: Context,
  wire: WireRequest,
  of: AttestationRecord | null,
  filesRead = of?.record.file_count ?? 0,
): Promise<void> {
  if (!of || !isLong(of)) return
  await limitAnonymous(context, wire, of.receiptId, Math.ceil(filesRead / FILES_PER_REQUEST))
}

function statementNotFound(receiptId: string, sequence: number): ServiceError {
  return new ServiceError('statement_not_found', `this receipt has no statement ${sequence}`, {
    hint: `see GET /v1/storage/statements?receipt_id=${encodeURIComponent(receiptId)} for its statements`,
  })
}

export function fileNotAttested(receiptId: string, filename: string): ServiceError {
  return new ServiceError('FILE_NOT_ATTESTED', 'this statement has no such file', {
    hint: `see GET /v1/storage/verify?receipt_id=${encodeURIComponent(receiptId)} for its files; attest again after an upload`,
    details: { filename },
  })
}

/** The name would reveal the public link, and shared evidence must not grant access to files. */
export function namesReceipt({ receiptId, lockerId }: AttestationRecord, filename: string): boolean {
  return filename.includes(receiptId) || filename.includes(lockerId)
}
