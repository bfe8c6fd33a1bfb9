import type { SQLInputValue } from 'node:sqlite'

/**
 * node:sqlite would bind 1 as 1.0, which shows in JSON and text, and would take an object in first place for named
 * parameters and bind NULL. Booleans and dates are refused because PostgreSQL would not store them as SQLite does.
 */
export function toSqliteValue(value: unknown): SQLInputValue {
  if (typeof value === 'string' || typeof value === 'bigint' || value === null) return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (value instanceof Uint8Array) return value
  throw new TypeError(`SQLite stores no ${value instanceof Date ? 'Date' : typeof value}: use text or an integer`)
}
