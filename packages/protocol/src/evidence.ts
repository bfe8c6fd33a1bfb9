// Version-2 statements: a body, its digest, and a signature over tag, zero byte and digest. Each statement of a receipt
// contains the digest of the previous one.

import { sha256Hex } from '#crypto'
import { concat, fromHex, toHex, withPrefix } from './bytes.ts'
import { canonicalBytes, type Json } from './canonical.ts'
import { issuerKeyId, snapshotId } from './ids.ts'
import type { Ed25519Signer, Ed25519Verifier } from './keys.ts'
import { domainTagBytes, EVIDENCE_SCHEMA, MERKLE_ALGORITHM } from './names.ts'

export type CheckMode = 'recorded_hashes' | 'bytes_hashed'

export interface EvidenceBody {
  schema: string
  policy_version: number
  proof_id: string
  snapshot_id: string
  sequence: number
  prev_statement_digest: string | null
  merkle_algorithm: string
  merkle_root: string
  file_count: number
  manifest_file_count: number
  total_bytes: string
  manifest_digest: string
  check_mode: CheckMode
  issued_at: string
  issued_at_unix: number
  issuer_key_id: string
  nonce: string
}

export interface EvidenceEnvelope {
  body: EvidenceBody
  statement_digest: string
  signature: string | null
  issuer_pubkey: string | null
  sig_alg: 'ed25519' | 'none'
}

/** The input of a statement. Everything else in the body is derived from it. */
export interface Statement {
  proofId: string
  sequence: number
  previousDigest: string | null
  /** Without the prefix `sha256:`. */
  merkleRoot: string
  fileCount: number
  manifestFileCount: number
  totalBytes: bigint
  manifestDigest: string
  checkMode: CheckMode
  issuedAtUnix: number
  nonce: string
}

/** Signs a statement. Without a signer `sig_alg` is `none`, which no verifier accepts as signed (EVID-18). */
export function issueStatement(
  statement: Statement,
  signer: Ed25519Signer | null,
  domainTag: string,
): EvidenceEnvelope {
  const draft = draftStatement(statement, signer && toHex(signer.publicKey), domainTag)
  return signedStatement(draft, signer ? signer.sign(draft.message) : null)
}

/** A statement before it is signed, for external signing keys. */
export interface StatementDraft {
  body: EvidenceBody
  digest: string
  issuerHex: string | null
  message: Uint8Array
}

export function draftStatement(statement: Statement, issuerHex: string | null, domainTag: string): StatementDraft {
  const body = evidenceBody(statement, issuerKeyId(issuerHex))
  const digest = statementDigest(body)
  return { body, digest, issuerHex, message: statementMessage(digest, domainTag) }
}

export function signedStatement(draft: StatementDraft, signature: Uint8Array | null): EvidenceEnvelope {
  return {
    body: draft.body,
    statement_digest: draft.digest,
    signature: signature && toHex(signature),
    issuer_pubkey: draft.issuerHex,
    sig_alg: signature ? 'ed25519' : 'none',
  }
}

function evidenceBody(statement: Statement, keyId: string): EvidenceBody {
  return {
    schema: EVIDENCE_SCHEMA,
    policy_version: 1,
    proof_id: statement.proofId,
    snapshot_id: snapshotId({
      proof_id: statement.proofId,
      merkle_root: statement.merkleRoot,
      manifest_digest: statement.manifestDigest,
      file_count: statement.fileCount,
    }),
    sequence: statement.sequence,
    prev_statement_digest: statement.previousDigest,
    merkle_algorithm: MERKLE_ALGORITHM,
    merkle_root: withPrefix(statement.merkleRoot),
    file_count: statement.fileCount,
    manifest_file_count: statement.manifestFileCount,
    total_bytes: String(statement.totalBytes),
    manifest_digest: statement.manifestDigest,
    check_mode: statement.checkMode,
    issued_at: isoSeconds(statement.issuedAtUnix),
    issued_at_unix: statement.issuedAtUnix,
    issuer_key_id: keyId,
    nonce: statement.nonce,
  }
}

export function statementDigest(body: EvidenceBody): string {
  return sha256Hex(canonicalBytes(body as unknown as Json))
}

/** The 58 signed bytes (EVID-17). */
export function statementMessage(digestHex: string, domainTag: string): Uint8Array {
  const tag = domainTagBytes(domainTag)
  const digest = fromHex(digestHex, 32)
  if (!tag || !digest) throw new RangeError('a statement message needs a 25-byte tag and a 32-byte digest')
  return concat(tag, Uint8Array.of(0), digest)
}

/** Whether the body hashes to its digest and this key signed the digest. False for the algorithm `none`. */
export function isStatementSignedBy(key: Ed25519Verifier, envelope: EvidenceEnvelope, domainTag: string): boolean {
  if (envelope.sig_alg !== 'ed25519' || envelope.signature === null) return false
  const signature = fromHex(envelope.signature, 64)
  if (!signature || statementDigest(envelope.body) !== envelope.statement_digest) return false
  return key.verify(statementMessage(envelope.statement_digest, domainTag), signature)
}

/** Reads `YYYY-MM-DDTHH:MM:SSZ`, with or without a fraction. Null for any other value. */
export function unixSeconds(time: unknown): number | null {
  if (typeof time !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(time)) return null
  const milliseconds = Date.parse(time)
  if (Number.isNaN(milliseconds)) return null
  const seconds = Math.floor(milliseconds / 1000)
  // Some engines read 31 February as 3 March, and all of them hour 24 as the next day.
  return isoSeconds(seconds).startsWith(time.slice(0, 19)) ? seconds : null
}

/** `YYYY-MM-DDTHH:MM:SSZ`: ISO 8601 without a fraction (EVID-14). */
export function isoSeconds(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace('.000Z', 'Z')
}
