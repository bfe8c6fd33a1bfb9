import { bare, isHex } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { type EvidenceBody, type EvidenceEnvelope, isoSeconds, statementDigest } from '@svc/protocol/evidence'
import { snapshotId } from '@svc/protocol/ids'
import { EVIDENCE_SCHEMA, MERKLE_ALGORITHM } from '@svc/protocol/names'
import { type Fact, failed, notChecked, PASSED, passedUnless } from './facts.ts'
import type { CountedFiles } from './file-list.ts'
import type { BundleParts } from './read-bundle.ts'
import { isObject, quoted } from './untrusted.ts'

const NO_ENVELOPE = notChecked('a version-1 bundle has no envelope')

/** Merkle rule 8: the number of leaves must match as well as the root. */
export function merkleRootMatches(
  { commitment }: BundleParts,
  files: Pick<CountedFiles, 'count' | 'merkleRoot'>,
): Fact {
  const { merkle_root, file_count } = commitment
  if (file_count !== files.count)
    return failed(`the bundle lists ${files.count} files, but its commitment has another number`)
  if (typeof merkle_root !== 'string' || bare(merkle_root) !== files.merkleRoot) {
    return failed('the Merkle root of the files is not that of the commitment')
  }
  return PASSED
}

export function statementDigestMatches({ envelope }: Pick<BundleParts, 'envelope'>): Fact {
  if (!envelope) return NO_ENVELOPE
  return passedUnless(
    digestOf(envelope.body) === envelope.statement_digest
      ? null
      : 'statement_digest is not the digest of the statement',
  )
}

/** Null for a value without a canonical form, which has no digest. */
function digestOf(body: Json | undefined): string | null {
  if (!isObject(body)) return null
  try {
    return statementDigest(body as unknown as EvidenceBody)
  } catch {
    return null
  }
}

/** Whether the statement is about the counted files, and the commitment matches it (EVID-20). */
export function envelopeBindsCommitment(parts: BundleParts, files: CountedFiles): Fact {
  if (!parts.envelope) return NO_ENVELOPE
  const body = readStatementBody(parts.envelope.body)
  return passedUnless(typeof body === 'string' ? body : differingField(body, parts, files))
}

function differingField(body: EvidenceBody, { proofId, commitment }: BundleParts, files: CountedFiles): string | null {
  if (bare(body.merkle_root) !== files.merkleRoot) return 'the Merkle root of the statement is not that of the files'
  if (body.file_count !== files.count) return `the statement counts ${body.file_count} files, the bundle ${files.count}`
  if (body.manifest_digest !== files.manifestDigest)
    return 'the manifest digest of the statement is not that of the files'
  if (body.total_bytes !== String(files.totalBytes)) return 'the total size in the statement is not that of the files'
  if (body.snapshot_id !== snapshotId(body)) return 'the snapshot id does not match the statement'
  if (body.proof_id !== proofId) return 'the proof id of the bundle is not that of the statement'
  const claims: [field: string, Json | undefined, Json][] = [
    ['merkle_root', commitment.merkle_root, body.merkle_root],
    ['file_count', commitment.file_count, body.file_count],
    ['manifest_file_count', commitment.manifest_file_count, body.manifest_file_count],
    ['total_bytes', totalText(commitment.total_bytes), body.total_bytes],
    ['check_mode', commitment.check_mode, body.check_mode],
    ['attested_at', commitment.attested_at, body.issued_at],
  ]
  const differing = claims.find(([, inCommitment, inBody]) => inCommitment !== inBody)
  return differing ? `commitment.${differing[0]} does not match the statement` : null
}

/** VER-13: a total can be a decimal string or an integer. */
function totalText(total: Json | undefined): Json | undefined {
  return typeof total === 'number' && Number.isSafeInteger(total) ? String(total) : total
}

type Test = (value: Json | undefined) => boolean

const is = (expected: Json) => (value: Json | undefined) => value === expected
const hex = (bytes: number) => (value: Json | undefined) => typeof value === 'string' && isHex(value, bytes)
const sha256: Test = (value) => typeof value === 'string' && value !== bare(value) && isHex(bare(value), 32)
const matching = (pattern: RegExp) => (value: Json | undefined) => typeof value === 'string' && pattern.test(value)
const integer = (least: number, most: number) => (value: Json | undefined) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most

const MAX_COUNT = 0xffffffff
/** The end of the year 9999. Later times have another form. */
const MAX_UNIX_SECONDS = 253_402_300_799

/** The 17 fields of a body (EVID-09..15, EVID-21). */
const FIELDS: Record<keyof EvidenceBody, Test> = {
  schema: is(EVIDENCE_SCHEMA),
  policy_version: is(1),
  proof_id: hex(16),
  snapshot_id: hex(32),
  sequence: integer(1, MAX_COUNT),
  prev_statement_digest: (value) => value === null || hex(32)(value),
  merkle_algorithm: is(MERKLE_ALGORITHM),
  merkle_root: sha256,
  file_count: integer(1, MAX_COUNT),
  manifest_file_count: integer(1, MAX_COUNT),
  total_bytes: matching(/^(?:0|[1-9]\d{0,38})$/),
  manifest_digest: sha256,
  check_mode: matching(/^(?:recorded_hashes|bytes_hashed)$/),
  issued_at: matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  issued_at_unix: integer(0, MAX_UNIX_SECONDS),
  issuer_key_id: matching(/^(?:ed25519:[0-9a-f]{16}|unsigned)$/),
  nonce: hex(16),
}

/** The body of a statement, or what is wrong with it. */
export function readStatementBody(body: Json | undefined): EvidenceBody | string {
  if (!isObject(body)) return 'the envelope has no body'
  const unknown = Object.keys(body).find((field) => !Object.hasOwn(FIELDS, field))
  if (unknown !== undefined) return `a statement has no field ${quoted(unknown)}`
  for (const [field, test] of Object.entries(FIELDS)) {
    if (!test(body[field])) return `${field} of the statement is missing or malformed`
  }
  const statement = body as unknown as EvidenceBody // each field was checked
  if (statement.issued_at !== isoSeconds(statement.issued_at_unix)) return 'issued_at and issued_at_unix differ'
  if (statement.manifest_file_count < statement.file_count) return 'manifest_file_count is below file_count'
  if ((statement.sequence === 1) !== (statement.prev_statement_digest === null)) {
    return 'only the first statement may have no previous one'
  }
  return statement
}

/** Null if there is no statement, or it is malformed. */
export function wellFormedEnvelope({ envelope }: Pick<BundleParts, 'envelope'>): EvidenceEnvelope | null {
  const { body, statement_digest } = envelope ?? {}
  if (typeof readStatementBody(body) === 'string') return null
  const isDigest = typeof statement_digest === 'string' && isHex(statement_digest, 32)
  return isDigest ? (envelope as unknown as EvidenceEnvelope) : null // the fields that the facts use were checked
}
