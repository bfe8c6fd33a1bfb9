// A read-only view of a database: it rejects writes at run time, even as SQL text or behind a cast. The text of a query
// is checked once, without asking the engine. Functions that write, such as `nextval`, are not detected.

import {
  type AbortableOperationOptions,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type TransactionSettings,
} from 'kysely'

/** A reader and a writer on the same connections. */
export interface Opened<Schema> {
  writer: Kysely<Schema>
  reader: Kysely<Schema>
}

const writers = new WeakMap<object, unknown>()

export function openReaderAndWriter<Schema>(dialect: Dialect): Opened<Schema> {
  const driver = dialect.createDriver()
  const adapter = dialect.createAdapter()
  // The first of the two to be used opens the driver, and either closes it for both.
  const [open, close] = [once(driver.init.bind(driver)), once(driver.destroy.bind(driver))]
  let isClosed = false
  driver.init = async () => {
    if (isClosed) throw new Error('the database is closed')
    await open()
  }
  driver.destroy = () => {
    isClosed = true
    return close()
  }
  // `prepared` caches its queries per adapter.
  const shared: Dialect = {
    createDriver: () => driver,
    createAdapter: () => adapter,
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  }
  const writer = new Kysely<Schema>({ dialect: shared })
  const reader = new Kysely<Schema>({ dialect: { ...shared, createDriver: () => new ReadingDriver(driver) } })
  writers.set(reader, writer)
  return { writer, reader }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null
  return () => {
    done ??= work().catch((error) => {
      done = null
      throw error
    })
    return done
  }
}

/** The writer of the database that this reader reads. For migrations and tests: all other code uses `commit`. */
export function writerOf<Schema>(reader: object): Kysely<Schema> {
  return (writers.get(reader) ?? reader) as Kysely<Schema>
}

class ReadingDriver implements Driver {
  readonly #driver: Driver

  constructor(driver: Driver) {
    this.#driver = driver
  }

  init(): Promise<void> {
    return this.#driver.init()
  }

  async acquireConnection(options?: AbortableOperationOptions): Promise<DatabaseConnection> {
    return new ReadingConnection(await this.#driver.acquireConnection(options))
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    if (settings.accessMode !== 'read only') throw new Error('only `commit` may open a transaction that writes')
    await this.#driver.beginTransaction(innerOf(connection), settings)
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#driver.commitTransaction(innerOf(connection))
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#driver.rollbackTransaction(innerOf(connection))
  }

  releaseConnection(connection: DatabaseConnection, options?: AbortableOperationOptions): Promise<void> {
    return this.#driver.releaseConnection(innerOf(connection), options)
  }

  destroy(): Promise<void> {
    return this.#driver.destroy()
  }
}

function innerOf(connection: DatabaseConnection): DatabaseConnection {
  return (connection as ReadingConnection).inner
}

class ReadingConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection

  constructor(inner: DatabaseConnection) {
    this.inner = inner
  }

  executeQuery<R>(query: CompiledQuery, options?: AbortableOperationOptions) {
    requireRead(query)
    return this.inner.executeQuery<R>(query, options)
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number, options?: AbortableOperationOptions) {
    requireRead(query)
    return this.inner.streamQuery<R>(query, chunkSize, options)
  }
}

const CAPACITY = 2000
const reads = new Set<string>()

function requireRead({ sql, query }: CompiledQuery): void {
  // SQLite's text of a query does not show a lock.
  if (locks(query)) throw new Error(`only \`commit\` may lock rows: ${sql.slice(0, 200)}`)
  if (reads.has(sql)) return
  if (!isRead(sql)) throw new Error(`only \`commit\` may write: ${sql.slice(0, 200)}`)
  // Lists of different lengths produce different texts, so the set is bounded.
  if (reads.size >= CAPACITY) reads.clear()
  reads.add(sql)
}

function locks(query: CompiledQuery['query']): boolean {
  if (query.kind !== 'SelectQueryNode') return false
  return query.endModifiers?.some(({ modifier }) => modifier === 'ForUpdate' || modifier === 'ForShare') ?? false
}

const NO_CODE = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//g
const READS = /^[\s(]*(?:select|with|values|explain)\b/i
const WRITES = /\b(?:insert|update|delete|merge|into|create)\b|;/i

/** Locking reads are rejected too: a lock has no effect outside a transaction. */
export function isRead(sql: string): boolean {
  const code = sql.replace(NO_CODE, ' ')
  return READS.test(code) && !WRITES.test(code)
}
