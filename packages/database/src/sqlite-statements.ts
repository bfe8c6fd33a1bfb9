// Prepared statements of one SQLite connection: cached, run with bound values, and read in chunks. Rows are cast to the
// query's type, as in every Kysely driver.

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { lru } from '@svc/concurrency/caches'
import type { CompiledQuery, QueryResult } from 'kysely'

interface PreparedStatement {
  statement: StatementSync
  /** Null for a statement without rows. */
  rows: RowShape | null
  /** The columns of other statements may be different afterwards. */
  changesSchema: boolean
}

interface RowShape {
  columns: number
  make(values: SQLOutputValue[]): object
}

export type StatementCache = (sql: string) => PreparedStatement

const CAPACITY = 500

/**
 * Prepares each SQL text once, because preparing costs more than most queries, and caches the most recently used ones.
 */
export function createStatementCache(database: DatabaseSync): StatementCache {
  const cache = lru<string, PreparedStatement>(CAPACITY)
  return (sql) => {
    const known = cache.get(sql)
    if (known) return known
    const prepared = prepare(database, sql)
    cache.set(sql, prepared)
    return prepared
  }
}

function prepare(database: DatabaseSync, sql: string): PreparedStatement {
  const statement = database.prepare(sql)
  statement.setReturnArrays(true)
  return { statement, rows: rowShape(statement), changesSchema: /^\s*(alter|create|drop)\b/i.test(sql) }
}

/**
 * Rows are made by a compiled object literal. The objects of node:sqlite are hash tables, which take twice as long to
 * make and several times as long to read.
 */
function rowShape(statement: StatementSync): RowShape | null {
  const names = statement.columns().map(({ name }) => name)
  if (names.length === 0) return null
  const fields = names.map((name, i) => `${JSON.stringify(name)}: values[${i}]`)
  const make = new Function('values', `return { ${fields.join(', ')} }`) as RowShape['make']
  return { columns: names.length, make }
}

export function runStatement<R>(prepared: PreparedStatement, query: CompiledQuery): QueryResult<R> {
  const { statement } = prepared
  const values = query.parameters.map(toSqliteValue)
  if (!prepared.rows) return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) }
  const found = statement.all(...values) as unknown as SQLOutputValue[][]
  // Another process has added a column.
  if (found[0] && found[0].length !== prepared.rows.columns) prepared.rows = rowShape(statement)
  return { rows: prepared.rows ? (found.map(prepared.rows.make) as R[]) : [] }
}

export async function* readInChunks<R>(
  database: DatabaseSync,
  query: CompiledQuery,
  chunkSize: number,
): AsyncIterableIterator<QueryResult<R>> {
  const { statement, rows: shape } = prepare(database, query.sql)
  let rows: R[] = []
  for (const values of statement.iterate(...query.parameters.map(toSqliteValue))) {
    rows.push(shape?.make(values as unknown as SQLOutputValue[]) as R)
    if (rows.length < chunkSize) continue
    yield { rows }
    rows = []
    // Reading never waits, so a long stream would otherwise block the process.
    await setImmediate()
  }
  if (rows.length > 0) yield { rows }
}

/**
 * node:sqlite would bind 1 as 1.0, which shows in JSON and text. It would read an object in the first position as named
 * parameters and bind NULL. Booleans and dates are rejected because PostgreSQL would store them differently.
 */
function toSqliteValue(value: unknown): SQLInputValue {
  if (typeof value === 'string' || typeof value === 'bigint' || value === null) return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (value instanceof Uint8Array) return value
  throw new TypeError(`SQLite cannot store a ${value instanceof Date ? 'Date' : typeof value}: use text or an integer`)
}
