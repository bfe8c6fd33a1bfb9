// The differences between the two engines that schemas and queries must know.

import { type RawBuilder, sql } from 'kysely'

export type DialectName = 'sqlite' | 'postgres'

export function dialectNameOf(url: string): DialectName {
  if (url.startsWith('sqlite:')) return 'sqlite'
  if (/^postgres(ql)?:\/\//.test(url)) return 'postgres'
  // The rest of the URL may hold a password.
  throw new Error(`a database URL must begin with "sqlite:" or "postgres://", not with "${url.split(':')[0]}:"`)
}

/** One set of column types for both engines. JSON, times and amounts are text; booleans are the integers 0 and 1. */
export interface ColumnTypes {
  /** Ordered by code point; without `collate`, PostgreSQL uses the collation its database was created with. */
  text: RawBuilder<unknown>
  /** 64 bits; PostgreSQL's own `integer` has 32. */
  integer: RawBuilder<unknown>
  bytes: RawBuilder<unknown>
}

const COLUMN_TYPES: Record<DialectName, ColumnTypes> = {
  sqlite: { text: sql`text`, integer: sql`integer`, bytes: sql`blob` },
  postgres: { text: sql`text collate "C"`, integer: sql`bigint`, bytes: sql`bytea` },
}

export function columnTypesOf(dialect: DialectName): ColumnTypes {
  return COLUMN_TYPES[dialect]
}

const SQLITE_CONSTRAINT_CODES: unknown[] = [
  1555, // SQLITE_CONSTRAINT_PRIMARYKEY
  2067, // SQLITE_CONSTRAINT_UNIQUE
]
const POSTGRES_UNIQUE_VIOLATION = '23505'

/** Whether a query failed because a row with the same primary or unique key exists. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error) return SQLITE_CONSTRAINT_CODES.includes(error.errcode)
  return 'code' in error && error.code === POSTGRES_UNIQUE_VIOLATION
}
