// SQLite through `node:sqlite`: the Kysely dialect and its driver.

import type { DatabaseSync } from 'node:sqlite'
import { mutex } from '@svc/concurrency/locks'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  type SelectModifierNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { openSqliteFile, openSqliteReader } from './sqlite-file.ts'
import { createStatementCache, readInChunks, runStatement, type StatementCache } from './sqlite-statements.ts'
import { queryError } from './unavailable.ts'

export function createSqliteDialect(path: string): Dialect {
  return {
    createDriver: () => createSqliteDriver(path),
    createQueryCompiler: () => new Compiler(),
    createAdapter: () => new Adapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

class Adapter extends SqliteAdapter {
  // Our driver locks its one connection itself. Kysely's lock wakes every waiter at every release, is not fair, and
  // would stay locked while a stream is read.
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class Compiler extends SqliteQueryCompiler {
  // A transaction holds the write lock of the whole file, so `for update` adds nothing. Leaving it out lets the same
  // query run on both engines.
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== 'ForUpdate') super.visitSelectModifier(node)
  }
}

/**
 * All queries use one SQLite connection, which a transaction holds from `begin` to `commit`. Only a stream outside a
 * transaction opens another connection, so that a slow reader of many rows blocks no other caller.
 */
function createSqliteDriver(path: string): Driver {
  const lock = mutex()
  let database: DatabaseSync
  let prepared: StatementCache
  let transaction: { connection: DatabaseConnection; releaseLock: () => void } | undefined

  function run<R>(query: CompiledQuery): QueryResult<R> {
    try {
      const statement = prepared(query.sql)
      const result = runStatement<R>(statement, query)
      if (statement.changesSchema) prepared = createStatementCache(database)
      return result
    } catch (error) {
      throw queryError(error)
    }
  }

  function command(sql: string): void {
    run(CompiledQuery.raw(sql))
  }

  function endTransaction(): void {
    transaction?.releaseLock()
    transaction = undefined
  }

  return {
    async init() {
      database = await openSqliteFile(path)
      prepared = createStatementCache(database)
    },

    async acquireConnection() {
      const connection: DatabaseConnection = {
        async executeQuery<R>(query: CompiledQuery) {
          if (transaction?.connection === connection) return run<R>(query)
          const releaseLock = await lock.acquire()
          try {
            return run<R>(query)
          } finally {
            releaseLock()
          }
        },

        async *streamQuery<R>(query: CompiledQuery, chunkSize: number) {
          if (transaction?.connection === connection) return yield* readInChunks<R>(database, query, chunkSize)
          const reader = openSqliteReader(path)
          try {
            yield* readInChunks<R>(reader, query, chunkSize)
          } finally {
            reader.close()
          }
        },
      }
      return connection
    },

    async releaseConnection() {},

    async beginTransaction(connection) {
      const releaseLock = await lock.acquire()
      try {
        // Take the write lock first: upgrading a read lock later fails when another process wrote in between.
        command('begin immediate')
        transaction = { connection, releaseLock }
      } catch (error) {
        releaseLock()
        throw error
      }
    },

    async commitTransaction() {
      command('commit')
      endTransaction()
    },

    async rollbackTransaction() {
      try {
        // After some errors (disk full, I/O) SQLite has already rolled back by itself.
        if (database.isTransaction) command('rollback')
      } finally {
        endTransaction()
      }
    },

    async savepoint(_connection, name) {
      command(`savepoint "${name.replaceAll('"', '""')}"`)
    },
    async rollbackToSavepoint(_connection, name) {
      command(`rollback to "${name.replaceAll('"', '""')}"`)
    },
    async releaseSavepoint(_connection, name) {
      command(`release "${name.replaceAll('"', '""')}"`)
    },

    async destroy() {
      await lock.acquire()
      database.close()
    },
  }
}
