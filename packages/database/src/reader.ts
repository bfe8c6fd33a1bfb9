// Gives out a database to read from: it refuses what its type cannot, a write as SQL text or behind a cast. The text of
// a query is looked at once, and neither engine is asked. A function that writes, as `nextval`, is not seen.

import {
  type AbortableOperationOptions,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type TransactionSettings,
} from 'kysely'

/** Two on the same connections. */
export interface Opened<Schema> {
  writer: Kysely<Schema>
  reader: Kysely<Schema>
}

const writers = new WeakMap<object, unknown>()

export function openReaderAndWriter<Schema>(dialect: Dialect): Opened<Schema> {
  const driver = dialect.createDriver()
  const adapter = dialect.createAdapter()
  // Whichever is used first opens it, and either closes it for both.
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
  // `prepared` keeps its queries by the adapter.
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

/** What writes to the database that this reads from. For migrations and tests: everybody else has `commit`. */
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
    if (settings.accessMode !== 'read only') throw new Error('only `commit` opens a transaction that writes')
    await this.#driver.beginTransaction(wholeOf(connection), settings)
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#driver.commitTransaction(wholeOf(connection))
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#driver.rollbackTransaction(wholeOf(connection))
  }

  releaseConnection(connection: DatabaseConnection, options?: AbortableOperationOptions): Promise<void> {
    return this.#driver.releaseConnection(wholeOf(connection), options)
  }

  destroy(): Promise<void> {
    return this.#driver.destroy()
  }
}

function wholeOf(connection: DatabaseConnection): DatabaseConnection {
  return (connection as ReadingConnection).whole
}

class ReadingConnection implements DatabaseConnection {
  readonly whole: DatabaseConnection

  constructor(whole: DatabaseConnection) {
    this.whole = whole
  }

  executeQuery<R>(query: CompiledQuery, options?: AbortableOperationOptions) {
    requireRead(query)
    return this.whole.executeQuery<R>(query, options)
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number, options?: AbortableOperationOptions) {
    requireRead(query)
    return this.whole.streamQuery<R>(query, chunkSize, options)
  }
}

const CAPACITY = 2000
const reads = new Set<string>()

function requireRead({ sql, query }: CompiledQuery): void {
  // SQLite's text of a query does not show that it locks.
  if (locks(query)) throw new Error(`only \`commit\` gives what locks rows: ${sql.slice(0, 200)}`)
  if (reads.has(sql)) return
  if (!isRead(sql)) throw new Error(`only \`commit\` gives what writes: ${sql.slice(0, 200)}`)
  // Lists of other lengths are other texts.
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

/** Also a locking read is none: it means nothing outside a transaction. */
export function isRead(sql: string): boolean {
  const code = sql.replace(NO_CODE, ' ')
  return READS.test(code) && !WRITES.test(code)
}
