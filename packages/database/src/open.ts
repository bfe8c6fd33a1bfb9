import { type Dialect, Kysely } from 'kysely'
import { type DialectName, dialectNameOf } from './dialects.ts'
import { type Migrations, migrate } from './migrate.ts'
import type { PostgresLimits, PostgresOptions } from './postgres.ts'
import { type ServerIdentity, serverIdentity, sqlitePath } from './server-identity.ts'

export interface Database<Schema> {
  db: Kysely<Schema>
  dialect: DialectName
  /** Which server, and which history of its data, the queries go to. */
  server(): Promise<ServerIdentity>
  /** Waits for running queries and transactions. */
  close(): Promise<void>
}

interface OpenOptions {
  url: string
  migrations: Migrations
  postgres?: PostgresLimits
  /** Of PostgreSQL: called before a new connection is used, with the server that it leads to. */
  onServer?: (server: ServerIdentity) => void
}

/** Opens `sqlite:<path>` or `postgres://…` and applies the pending migrations. */
export async function openDatabase<Schema>(options: OpenOptions): Promise<Database<Schema>> {
  const { url, migrations, postgres, onServer } = options
  const dialect = dialectNameOf(url)
  const db = new Kysely<unknown>({
    dialect: await createDialect(dialect, url, { ...postgres, ...(onServer && { onServer }) }),
  })
  try {
    if (dialect === 'postgres') await migratePostgres(url, migrations)
    else await migrate(db, dialect, migrations)
  } catch (error) {
    await db.destroy()
    throw error
  }
  // The migrations made the tables of the schema.
  const server = () => serverIdentity(db, url)
  return { db: db as Kysely<Schema>, dialect, server, close: () => db.destroy() }
}

/** By a connection of its own: a migration may take longer than a query. */
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

/** Loads only the driver that is used. */
async function createDialect(name: DialectName, url: string, options?: PostgresOptions): Promise<Dialect> {
  if (name === 'postgres') return (await import('./postgres.ts')).createPostgresDialect(url, options)
  return (await import('./sqlite.ts')).createSqliteDialect(sqlitePath(url))
}
