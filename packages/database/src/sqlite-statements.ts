import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import type { CompiledQuery, QueryResult } from 'kysely'
import { toSqliteValue } from './sqlite-values.ts'
import type { PreparedStatement } from './statement-cache.ts'

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
