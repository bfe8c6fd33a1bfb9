import { type RawBuilder, sql } from 'kysely'
import type { DialectName } from './dialect-name.ts'

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
