import { type Dialect, Kysely } from 'kysely'
import { type Commit, createCommit, type Guard } from './commit.ts'
import { type DialectName, dialectNameOf } from './dialects.ts'
import { type Migrations, migrate } from './migrate.ts'
import type { PostgresLimits, PostgresOptions } from './postgres.ts'
import { openReaderAndWriter } from './reader.ts'
import { type ServerIdentity, serverIdentity, sqlitePath } from './server-identity.ts'

/** Reads, and refuses to write at run time too. Only `commit` can write. */
export interface Reader<Schema>
  extends Pick<Kysely<Schema>, 'selectFrom' | 'selectNoFrom' | 'case' | 'dynamic' | 'executeQuery' | 'getExecutor'> {}

export interface Database<Schema, Entry = never> {
  db: Reader<Schema>
  /** The only way to write. */
  commit: Commit<Schema, Entry>
  dialect: DialectName
  /** The server, and the history of its data, that the queries use. */
  server(): Promise<ServerIdentity>
  /** Waits for running queries and transactions. */
  close(): Promise<void>
}

interface OpenOptions<Schema, Entry> {
  url: string
  migrations: Migrations
  postgres?: PostgresLimits
  /** PostgreSQL only: called with the server before a new connection to it is used. */
  onServer?: (server: ServerIdentity) => void
  /** Checks every commit. */
  guard?: Guard<Schema, Entry>
}

/** Opens `sqlite:<path>` or `postgres://…` and applies the pending migrations. */
export async function openDatabase<Schema, Entry = never>(
  options: OpenOptions<Schema, Entry>,
): Promise<Database<Schema, Entry>> {
  const { url, migrations, postgres, onServer, guard } = options
  const dialect = dialectNameOf(url)
  const { reader, writer } = openReaderAndWriter<Schema>(
    await createDialect(dialect, url, { ...postgres, ...(onServer && { onServer }) }),
  )
  // The migrations create the tables of the schema.
  const bare = writer as Kysely<unknown>
  try {
    if (dialect === 'postgres') await migratePostgres(url, migrations)
    else await migrate(bare, dialect, migrations)
  } catch (error) {
    await writer.destroy()
    throw error
  }
  const server = () => serverIdentity(bare, url)
  const close = async () => void (await Promise.all([writer.destroy(), reader.destroy()]))
  return { db: reader, commit: createCommit(writer, dialect, guard), dialect, server, close }
}

/** Uses a connection of its own: a migration may take longer than a query. */
async function migratePostgres(url: string, migrations: Migrations): Promise<void> {
  const db = new Kysely<unknown>({
    dialect: await createDialect('postgres', url, { connections: 1, statementSeconds: 0 }),
  })
  try {
    await migrate(db, 'postgres', migrations)
  } finally {
    await db.destroy()
  }
}

/** Loads only the driver in use. */
async function createDialect(name: DialectName, url: string, options?: PostgresOptions): Promise<Dialect> {
  if (name === 'postgres') return (await import('./postgres.ts')).createPostgresDialect(url, options)
  return (await import('./sqlite.ts')).createSqliteDialect(sqlitePath(url))
}
