// Prepared statements of one SQLite connection: cached, run with bound values, and read in chunks. Rows are cast to the
// query's type, as in every Kysely driver.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { lru } from '@svc/concurrency/caches'
import type { CompiledQuery, QueryResult } from 'kysely'

interface PreparedStatement {
  statement: StatementSync
  returnsRows: boolean
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
  return { statement, returnsRows: statement.columns().length > 0 }
}

export function runStatement<R>({ statement, returnsRows }: PreparedStatement, query: CompiledQuery): QueryResult<R> {
  const values = query.parameters.map(toSqliteValue)
  if (returnsRows) return { rows: statement.all(...values) as R[] }
  return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) }
}

export async function* readInChunks<R>(
  database: DatabaseSync,
  query: CompiledQuery,
  chunkSize: number,
): AsyncIterableIterator<QueryResult<R>> {
  let rows: R[] = []
  for (const row of database.prepare(query.sql).iterate(...query.parameters.map(toSqliteValue))) {
    rows.push(row as R)
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
