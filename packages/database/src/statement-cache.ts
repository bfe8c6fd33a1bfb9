import type { DatabaseSync, StatementSync } from 'node:sqlite'

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
