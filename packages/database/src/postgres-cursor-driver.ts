import {
  type AbortableOperationOptions,
  CompiledQuery,
  type DatabaseConnection,
  PostgresDriver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'

/** Not exported by Kysely. */
type PostgresConnection = Parameters<PostgresDriver['rollbackTransaction']>[0]

/** Kysely's driver, with streams through an SQL cursor; its own way needs the package pg-cursor. */
export class PostgresCursorDriver extends PostgresDriver {
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
