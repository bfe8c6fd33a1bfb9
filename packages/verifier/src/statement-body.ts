import { bare, isHex } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { type EvidenceBody, isoSeconds } from '@svc/protocol/evidence'
import { EVIDENCE_SCHEMA, MERKLE_ALGORITHM } from '@svc/protocol/names'
import { quoted } from './printable.ts'
import { isObject } from './strict.ts'

type Test = (value: Json | undefined) => boolean

const is = (expected: Json) => (value: Json | undefined) => value === expected
const hex = (bytes: number) => (value: Json | undefined) => typeof value === 'string' && isHex(value, bytes)
const sha256: Test = (value) => typeof value === 'string' && value !== bare(value) && isHex(bare(value), 32)
const matching = (pattern: RegExp) => (value: Json | undefined) => typeof value === 'string' && pattern.test(value)
const integer = (least: number, most: number) => (value: Json | undefined) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most

const MAX_COUNT = 0xffffffff
/** The end of the year 9999, beyond which a time has another form. */
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
    if (!test(body[field])) return `${field} of the statement is missing or has another form`
  }
  const statement = body as unknown as EvidenceBody // each field was looked at
  if (statement.issued_at !== isoSeconds(statement.issued_at_unix)) return 'issued_at and issued_at_unix differ'
  if (statement.manifest_file_count < statement.file_count) return 'manifest_file_count is below file_count'
  if ((statement.sequence === 1) !== (statement.prev_statement_digest === null)) {
    return 'only the first statement has no previous one'
  }
  return statement
}
