// PostgreSQL through `pg`: safe integers, and streams of rows.

import {
  type AbortableOperationOptions,
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  PostgresDialect,
  PostgresDriver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import pg from 'pg'

const CONNECTION_TIMEOUT_MS = 10_000
const MAX_CONNECTIONS = 10

export function createPostgresDialect(url: string, maxConnections = MAX_CONNECTIONS): Dialect {
  const types = new pg.TypeOverrides()
  types.setTypeParser(pg.types.builtins.INT8, parseSafeNumber)
  types.setTypeParser(pg.types.builtins.NUMERIC, parseSafeNumber)
  const pool = new pg.Pool({
    connectionString: url,
    types,
    keepAlive: true,
    max: Math.min(maxConnections, MAX_CONNECTIONS),
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
  })
  // The pool replaces an idle connection that the server closed; without a listener the error would end the process.
  pool.on('error', () => {})

  const dialect = new PostgresDialect({ pool })
  return {
    createDriver: () => new PostgresCursorDriver({ pool }),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  }
}

/** PostgreSQL sends bigint and numeric (count, sum) as text. SQLite's driver rejects unsafe values by itself. */
function parseSafeNumber(text: string): number {
  const number = Number(text)
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER) return number
  throw new RangeError(`the database answered ${text}, which no JavaScript number holds exactly`)
}

/** Not exported by Kysely. */
type PostgresConnection = Parameters<PostgresDriver['rollbackTransaction']>[0]

/** Kysely's driver, which streams through an SQL cursor: Kysely's own streaming needs the package pg-cursor. */
class PostgresCursorDriver extends PostgresDriver {
  readonly #inTransaction = new WeakSet<DatabaseConnection>()

  override async acquireConnection(options?: AbortableOperationOptions): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection(options)
    connection.streamQuery = (query, chunkSize) =>
      this.#inTransaction.has(connection)
        ? readCursor(connection, query, chunkSize)
        : readCursorInTransaction(connection, query, chunkSize)
    return connection
  }

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    await super.beginTransaction(connection, settings)
    this.#inTransaction.add(connection)
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    this.#inTransaction.delete(connection)
    await super.commitTransaction(connection)
  }

  override async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    this.#inTransaction.delete(connection)
    await super.rollbackTransaction(connection)
  }
}

/** A cursor lives in a transaction and ends with it. */
async function* readCursorInTransaction<R>(
  connection: DatabaseConnection,
  query: CompiledQuery,
  chunkSize: number,
): AsyncIterableIterator<QueryResult<R>> {
  await connection.executeQuery(CompiledQuery.raw('begin'))
  try {
    yield* readCursor<R>(connection, query, chunkSize)
  } finally {
    await connection.executeQuery(CompiledQuery.raw('rollback'))
  }
}

async function* readCursor<R>(
  connection: DatabaseConnection,
  query: CompiledQuery,
  chunkSize: number,
): AsyncIterableIterator<QueryResult<R>> {
  const cursor = `stream_${query.queryId.queryId}`
  await connection.executeQuery({ ...query, sql: `declare ${cursor} no scroll cursor for ${query.sql}` })
  const fetch = CompiledQuery.raw(`fetch ${chunkSize} from ${cursor}`)
  while (true) {
    const result = await connection.executeQuery<R>(fetch)
    if (result.rows.length > 0) yield result
    if (result.rows.length < chunkSize) return
  }
}
