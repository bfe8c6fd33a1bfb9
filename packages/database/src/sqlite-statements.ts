import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import type { CompiledQuery, QueryResult } from 'kysely'

export interface PreparedStatement {
  statement: StatementSync
  returnsRows: boolean
}

export type StatementCache = (sql: string) => PreparedStatement

const capacity = 500

/** Prepares each SQL text once, which costs more than most queries do, and keeps the most recently used ones. */
export function createStatementCache(database: DatabaseSync): StatementCache {
  // A Map keeps the order of insertion, so the first key is the least recently used.
  const cache = new Map<string, PreparedStatement>()
  return (sql) => {
    const prepared = cache.get(sql) ?? prepare(database, sql)
    cache.delete(sql)
    cache.set(sql, prepared)
    if (cache.size > capacity) cache.delete(cache.keys().next().value!)
    return prepared
  }
}

function prepare(database: DatabaseSync, sql: string): PreparedStatement {
  const statement = database.prepare(sql)
  return { statement, returnsRows: statement.columns().length > 0 }
}

// Rows are cast to what the query's type promises, as in every Kysely driver.

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
    // Reading never waits, so without this a long stream would keep the process from everything else.
    await setImmediate()
  }
  if (rows.length > 0) yield { rows }
}

/**
 * node:sqlite would bind 1 as 1.0, which shows in JSON and text, and would take an object in first place for named
 * parameters and bind NULL. Booleans and dates are refused because PostgreSQL would not store them as SQLite does.
 */
function toSqliteValue(value: unknown): SQLInputValue {
  if (typeof value === 'string' || typeof value === 'bigint' || value === null) return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (value instanceof Uint8Array) return value
  throw new TypeError(`SQLite stores no ${value instanceof Date ? 'Date' : typeof value}: use text or an integer`)
}
