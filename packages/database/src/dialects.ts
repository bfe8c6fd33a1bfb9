import { type RawBuilder, sql } from 'kysely'

export type DialectName = 'sqlite' | 'postgres'

export function dialectNameOf(url: string): DialectName {
  if (url.startsWith('sqlite:')) return 'sqlite'
  if (/^postgres(ql)?:\/\//.test(url)) return 'postgres'
  // The rest of the url may hold a password.
  throw new Error(`a database url begins with "sqlite:" or "postgres://", not with "${url.split(':')[0]}:"`)
}

/** One set of column types for both engines; JSON, times and amounts are text, truth values are integers 0 and 1. */
export interface ColumnTypes {
  /** Ordered by code point. PostgreSQL would else use the collation its database happened to be created with. */
  text: RawBuilder<unknown>
  /** 64 bits; PostgreSQL's own `integer` has 32. */
  integer: RawBuilder<unknown>
  bytes: RawBuilder<unknown>
}

const columnTypes: Record<DialectName, ColumnTypes> = {
  sqlite: { text: sql`text`, integer: sql`integer`, bytes: sql`blob` },
  postgres: { text: sql`text collate "C"`, integer: sql`bigint`, bytes: sql`bytea` },
}

export function columnTypesOf(dialect: DialectName): ColumnTypes {
  return columnTypes[dialect]
}

const sqliteConstraintCodes: unknown[] = [
  1555, // SQLITE_CONSTRAINT_PRIMARYKEY
  2067, // SQLITE_CONSTRAINT_UNIQUE
]
const postgresUniqueViolation = '23505'

/** Whether a query failed because a row with the same primary or unique key exists. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error) return sqliteConstraintCodes.includes(error.errcode)
  return 'code' in error && error.code === postgresUniqueViolation
}
