// What is wrong with the form of a record. Names from the export are not repeated: they may hold anything.

import { fromBase58 } from '@svc/protocol/bytes'
import { filesProblem } from './files-problem.ts'

export type { ExportedFile } from './files-problem.ts'

/** Null for what is right, else what it must be, to be read after its name. */
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

/** ANCH-09. */
const ANCHOR_RULES: Record<string, Rule> = {
  type: only('oracle_v2'),
  chain: text(/^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/, 'must be a CAIP-2 id'),
  tx: transaction,
  slot: orNull(count),
  account: orNull((value) => (isBase58(value, 32) ? null : 'must be a public key in base58')),
  envelope_version: only(1),
}

export function recordProblem(value: unknown): string | null {
  return fieldsProblem(value, RULES, OPTIONAL_RULES) ?? anchoringProblem(value as Anchoring)
}

/** Strict: what nobody knows is not dropped in silence. */
function fieldsProblem(value: unknown, rules: Record<string, Rule>, optional: Record<string, Rule> = {}) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object'
  const fields = value as Record<string, unknown>
  const missing = Object.keys(rules).find((field) => !Object.hasOwn(fields, field))
  if (missing) return `${missing}: is missing`
  for (const [field, content] of Object.entries(fields)) {
    const rule = Object.hasOwn(rules, field) ? rules[field] : Object.hasOwn(optional, field) ? optional[field] : null
    if (!rule) return `has a field that version 1 has not: ${JSON.stringify(field)}`
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

/** AMB-38: complete means published; and there is one transaction, whichever field a reader looks at (ANCH-10). */
function anchoringProblem({ attestation_status, oracle_tx, oracle_slot, anchor }: Anchoring): string | null {
  if (attestation_status === 'complete' && !anchor && oracle_tx === null) {
    return 'attestation_status: must not be complete where no transaction is named'
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

/** The date must exist: `Date` would make March of the 30th of February. */
function isTime(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(value)) return false
  const time = new Date(value)
  return time.getTime() >= 0 && time.toISOString().startsWith(value.slice(0, 19))
}
