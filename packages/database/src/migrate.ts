import { type Kysely, sql } from 'kysely'
import { type ColumnTypes, columnTypesOf, type DialectName } from './dialects.ts'

export type Migration = (db: Kysely<unknown>, column: ColumnTypes) => Promise<void>

/** Applied in the order of their names: `0001-receipts`, `0002-lockers`, … One that has landed is never edited. */
export type Migrations = Readonly<Record<string, Migration>>

type Bookkeeping = { schema_migrations: { name: string } }

/** Any number that no other advisory lock in the same database uses. */
const ADVISORY_LOCK = 5_723_840_117

/**
 * Applies all pending migrations or none, and is safe when several processes start at once. Kysely's Migrator is not
 * used: on SQLite it takes no lock and opens no transaction, so two processes would apply the same migration, and a
 * failing one would leave half of its tables.
 */
export async function migrate(db: Kysely<unknown>, dialect: DialectName, migrations: Migrations): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    // On SQLite the transaction itself holds the write lock from its start.
    if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(transaction)
    const bookkeeping = transaction.$extendTables<Bookkeeping>()
    const applied = await appliedMigrations(bookkeeping)
    refuseNewerDatabase(applied, migrations)
    for (const name of Object.keys(migrations).sort()) {
      if (applied.has(name)) continue
      await migrations[name]?.(transaction, columnTypesOf(dialect))
      await bookkeeping.insertInto('schema_migrations').values({ name }).execute()
    }
  })
}

async function appliedMigrations(db: Kysely<Bookkeeping>): Promise<Set<string>> {
  await db.schema
    .createTable('schema_migrations')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .execute()
  const rows = await db.selectFrom('schema_migrations').select('name').execute()
  return new Set(rows.map((row) => row.name))
}

function refuseNewerDatabase(applied: Set<string>, migrations: Migrations): void {
  const unknown = [...applied].filter((name) => !Object.hasOwn(migrations, name)).sort()
  if (unknown.length === 0) return
  throw new Error(
    `the database has migrations that this version does not know (${unknown.join(', ')}): ` +
      'it belongs to a newer version, or to another service',
  )
}
