// PostgreSQL through `pg`: limits, safe integers, and streams of rows.

import {
  type AbortableOperationOptions,
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  PostgresDialect,
  PostgresDriver,
  type PostgresPool,
  type PostgresPoolClient,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import pg from 'pg'
import { postgresIdentity, type ServerIdentity } from './server-identity.ts'
import { isConnectionBroken, queryError, unavailable } from './unavailable.ts'

/** How many connections a process may use, and how long it waits for the server. */
export interface PostgresLimits {
  /** The largest number of open connections; at most 10. */
  connections?: number
  /** For a free connection. */
  waitSeconds?: number
  /** For one statement; 0 for no limit. */
  statementSeconds?: number
}

export interface PostgresOptions extends PostgresLimits {
  /** Called with the server before a new connection to it is used. */
  onServer?: (server: ServerIdentity) => void
}

const MAX_CONNECTIONS = 10
const WAIT_SECONDS = 10
const STATEMENT_SECONDS = 60
/** An idle transaction belongs to a process that hangs, or to a client that stopped reading. */
const IDLE_TRANSACTION_MS = 120_000
/** Longer than the server takes to cancel a statement: a client that waits this long has lost the server. */
const LOST_AFTER_MS = 10_000
const KEEP_ALIVE_AFTER_MS = 10_000

export function createPostgresDialect(url: string, options: PostgresOptions = {}): Dialect {
  const { connections = MAX_CONNECTIONS, waitSeconds = WAIT_SECONDS, statementSeconds = STATEMENT_SECONDS } = options
  const types = new pg.TypeOverrides()
  types.setTypeParser(pg.types.builtins.INT8, parseSafeNumber)
  types.setTypeParser(pg.types.builtins.NUMERIC, parseSafeNumber)
  const pool = new pg.Pool({
    connectionString: url,
    types,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    max: Math.min(connections, MAX_CONNECTIONS),
    connectionTimeoutMillis: waitSeconds * 1000,
    ...(statementSeconds > 0 && {
      statement_timeout: statementSeconds * 1000,
      query_timeout: statementSeconds * 1000 + LOST_AFTER_MS,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    }),
  })
  // The pool replaces a connection that the server closed, and the query on it fails. Without these listeners the error
  // of an idle or a used connection would end the process as well.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))

  const dialect = new PostgresDialect({ pool })
  return {
    createDriver: () => new PostgresCursorDriver({ pool: checkedPool(pool, options) }),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  }
}

/** A pool whose errors show when the database is unavailable, and that drops broken connections. */
function checkedPool(pool: pg.Pool, { onServer }: PostgresOptions): PostgresPool {
  const seen = new WeakSet<pg.PoolClient>()

  /** Kysely's own hook runs for its wrapper objects, which are new each time. */
  async function announce(client: pg.PoolClient): Promise<void> {
    if (!onServer || seen.has(client)) return
    try {
      onServer(await postgresIdentity(async (sql) => (await client.query(sql)).rows[0]))
    } catch (error) {
      client.release(true)
      throw error
    }
    seen.add(client)
  }

  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      try {
        const client = await pool.connect()
        await announce(client)
        return checkedClient(client)
      } catch (error) {
        throw unavailable(error)
      }
    },
  }
}

function checkedClient(client: pg.PoolClient): PostgresPoolClient {
  let isBroken = false
  async function query(sql: string, parameters: readonly unknown[]): Promise<unknown> {
    try {
      return await client.query(sql, [...parameters])
    } catch (error) {
      isBroken ||= isConnectionBroken(error)
      throw queryError(error)
    }
  }
  return {
    query: query as PostgresPoolClient['query'], // cursors of the package pg-cursor are not used
    release: (destroy = false) => client.release(destroy || isBroken),
  }
}

/** PostgreSQL sends bigint and numeric values (count, sum) as text. SQLite's driver rejects unsafe values itself. */
function parseSafeNumber(text: string): number {
  const number = Number(text)
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER) return number
  throw new RangeError(`the database returned ${text}, which a JavaScript number cannot represent exactly`)
}

/** Not exported by Kysely. */
type PostgresConnection = Parameters<PostgresDriver['rollbackTransaction']>[0]

/** Kysely's driver with streams through an SQL cursor: Kysely's own streams need the package pg-cursor. */
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
