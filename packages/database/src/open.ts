import { type Dialect, Kysely } from 'kysely'
import { type DialectName, dialectNameOf } from './dialects.ts'
import { type Migrations, migrate } from './migrate.ts'

export interface Database<Schema> {
  db: Kysely<Schema>
  dialect: DialectName
  /** Waits for running queries and transactions. */
  close(): Promise<void>
}

/** Opens `sqlite:<path>` or `postgres://…` and applies the pending migrations. */
export async function openDatabase<Schema>(options: {
  url: string
  migrations: Migrations
  /** Of PostgreSQL: how many connections this process may have at once. */
  maxConnections?: number
}): Promise<Database<Schema>> {
  const dialect = dialectNameOf(options.url)
  const db = new Kysely<unknown>({ dialect: await createDialect(dialect, options.url, options.maxConnections) })
  try {
    await migrate(db, dialect, options.migrations)
  } catch (error) {
    await db.destroy()
    throw error
  }
  // The migrations made the tables of the schema.
  return { db: db as Kysely<Schema>, dialect, close: () => db.destroy() }
}

/** Loads only the driver that is used. */
async function createDialect(name: DialectName, url: string, maxConnections?: number): Promise<Dialect> {
  if (name === 'postgres') return (await import('./postgres.ts')).createPostgresDialect(url, maxConnections)
  return (await import('./sqlite.ts')).createSqliteDialect(url.slice('sqlite:'.length))
}
