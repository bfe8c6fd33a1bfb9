// Checks the form of an exported record. Messages never repeat text from the export, which is untrusted.

import { bare, fromBase58, isHex } from '@svc/protocol/bytes'

/** A file of an exported record. */
export interface ExportedFile {
  filename: string
  size_bytes: number
  /** With or without its prefix. */
  content_hash: string
  content_type?: string | null
}

/** Returns null, or the problem as a phrase to follow the field's name. */
type Rule = (value: unknown) => string | null

const RULES: Record<string, Rule> = {
  receipt_id: text(/^[\x21-\x7e]{1,255}$/, 'must be a receipt id'),
  locker_id: text(/^locker_[0-9a-f]{12}$/, 'must be a locker id'),
  result_hash: text(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 lowercase hex characters'),
  merkle_root: text(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 lowercase hex characters'),
  manifest_signature: text(
    /^(?:[0-9a-f]{128}|unsigned:[0-9a-f]{32})$/,
    'must be 128 lowercase hex characters, or unsigned: and 32',
  ),
  file_count: count,
  total_bytes: count,
  files: filesProblem,
  attested_at: (value) => (isTime(value) ? null : 'must be a time in UTC such as 2026-06-12T00:00:00Z'),
  schema_version: only('1.0'),
  oracle_slot: orNull(count),
  oracle_tx: orNull(transaction),
  oracle_feed: orNull(text(/^[\x21-\x7e]{1,255}$/, 'must be the name of a feed')),
}

const OPTIONAL_RULES: Record<string, Rule> = {
  attestation_status: orNull(only('computed', 'complete')),
  anchor: orNull((value) => fieldsProblem(value, ANCHOR_RULES)),
}

/** An anchor of the oracle era (ANCH-09). */
const ANCHOR_RULES: Record<string, Rule> = {
  type: only('oracle_v2'),
  chain: text(/^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/, 'must be a CAIP-2 id'),
  tx: transaction,
  slot: orNull(count),
  account: orNull((value) => (isBase58(value, 32) ? null : 'must be a public key in base58')),
  envelope_version: only(1),
}

/** Returns null if the record is well formed. */
export function recordProblem(value: unknown): string | null {
  return fieldsProblem(value, RULES, OPTIONAL_RULES) ?? anchoringProblem(value as Anchoring)
}

/** A name that can be shown in a terminal. */
const PLAIN = /^[ -~]{1,80}$/

/** Strict: an unknown field is a problem. */
function fieldsProblem(value: unknown, rules: Record<string, Rule>, optional: Record<string, Rule> = {}) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object'
  const fields = value as Record<string, unknown>
  const missing = Object.keys(rules).find((field) => !Object.hasOwn(fields, field))
  if (missing) return `${missing}: is missing`
  for (const [field, content] of Object.entries(fields)) {
    const rule = Object.hasOwn(rules, field) ? rules[field] : Object.hasOwn(optional, field) ? optional[field] : null
    if (!rule) return `has a field that version 1 does not have${PLAIN.test(field) ? `: ${JSON.stringify(field)}` : ''}`
    const problem = rule(content)
    if (problem) return `${field}: ${problem}`
  }
  return null
}

interface Anchoring {
  attestation_status?: string | null
  oracle_tx: string | null
  oracle_slot: number | null
  anchor?: { tx: string; slot: number | null } | null
}

/** `complete` means published (ATT-23). Both fields that name the transaction must agree (ANCH-10). */
function anchoringProblem({ attestation_status, oracle_tx, oracle_slot, anchor }: Anchoring): string | null {
  if (attestation_status === 'complete' && !anchor && oracle_tx === null) {
    return 'attestation_status: must not be complete without a transaction'
  }
  if (anchor && oracle_tx !== null && anchor.tx !== oracle_tx) return 'anchor: tx must be oracle_tx'
  const slots = new Set([anchor?.slot ?? null, oracle_slot])
  slots.delete(null)
  return slots.size > 1 ? 'anchor: slot must be oracle_slot' : null
}

function text(pattern: RegExp, problem: string): Rule {
  return (value) => (typeof value === 'string' && pattern.test(value) ? null : problem)
}

function only(...words: readonly (string | number)[]): Rule {
  const problem = `must be ${words.map((word) => JSON.stringify(word)).join(' or ')}`
  return (value) => (words.some((word) => word === value) ? null : problem)
}

function orNull(rule: Rule): Rule {
  return (value) => (value === null ? null : rule(value))
}

function count(value: unknown): string | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? null : 'must be an integer from 0 to 2^53 - 1'
}

function transaction(value: unknown): string | null {
  return isBase58(value, 64) ? null : 'must be a transaction signature in base58'
}

function isBase58(value: unknown, bytes: number): boolean {
  return typeof value === 'string' && fromBase58(value, bytes) !== null
}

/** The date must exist: `Date` turns the 30th of February into a day in March. */
function isTime(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(value)) return false
  const time = new Date(value)
  return time.getTime() >= 0 && time.toISOString().startsWith(value.slice(0, 19))
}

const ATTESTED = ['filename', 'size_bytes', 'content_hash', 'content_type']
const NOT_ATTESTED = ['uploaded_at', 'hash_recorded_at', 'provider', 'provider_ref']
const FIELDS = new Set([...ATTESTED, ...NOT_ATTESTED])

/** Merkle rules 6 and 9. A filename must be unique, or a reader could choose between two files (T-21). */
function filesProblem(files: unknown): string | null {
  if (!Array.isArray(files) || files.length === 0) return 'must be a list with at least one file'
  const names = new Set<string>()
  for (const [i, file] of files.entries()) {
    const problem = fileProblem(file)
    if (problem) return `file ${i + 1} ${problem}`
    if (names.has(file.filename)) return `file ${i + 1} has the name of an earlier file`
    names.add(file.filename)
  }
  return null
}

function fileProblem(file: unknown): string | null {
  if (typeof file !== 'object' || file === null) return 'is not an object'
  const { filename, size_bytes, content_hash, content_type } = file as Record<string, unknown>
  if (Object.keys(file).some((field) => !FIELDS.has(field))) return 'has an unknown field'
  if (typeof filename !== 'string' || filename === '') return 'has no filename'
  if (filename.includes(':')) return 'has ":" in its filename'
  if (!filename.isWellFormed()) return 'has a lone surrogate in its filename'
  if (!Number.isSafeInteger(size_bytes) || (size_bytes as number) < 0) return 'has no size_bytes'
  if (typeof content_hash !== 'string' || !isHex(bare(content_hash), 32)) return 'has no content_hash'
  if (content_type === undefined || content_type === null) return null
  const isMediaType = typeof content_type === 'string' && /^[\x20-\x7e]{1,255}$/.test(content_type)
  return isMediaType ? null : 'has an invalid content_type'
}
