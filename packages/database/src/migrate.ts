import { setTimeout } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { type ColumnTypes, columnTypesOf, type DialectName } from './dialects.ts'
import { isDatabaseUnavailable } from './unavailable.ts'

type Change = (db: Kysely<unknown>, column: ColumnTypes) => Promise<void>

/**
 * A function only expands the schema: releases that do not know it go on working beside it. A contraction takes away
 * what some of them use; it names the migration that a release must know to work without.
 */
export type Migration = Change | Contraction

interface Contraction {
  /** The migration that came with the first release which does not need what is taken away. */
  needs: string
  contract: Change
}

/** Applied in the order of their names: `0001-receipts`, `0002-lockers`, … One that has landed is never edited. */
export type Migrations = Readonly<Record<string, Migration>>

type Bookkeeping = { schema_migrations: AppliedMigration }

interface AppliedMigration {
  name: string
  /** Null for one that only expands. */
  needs: string | null
}

/** Stands among the migrations of a database whose contents were moved to another: no release starts on it any more. */
export const MOVED_AWAY = 'moved-away'

/** Any number that no other advisory lock in the same database uses. */
const ADVISORY_LOCK = 5_723_840_117

/**
 * Applies all pending migrations or none, and is safe when several processes start at once. Kysely's Migrator is not
 * used: on SQLite it takes no lock and opens no transaction, so two processes would apply the same migration, and a
 * failing one would leave half of its tables.
 */
export async function migrate(db: Kysely<unknown>, dialect: DialectName, migrations: Migrations): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await applyAll(db, dialect, migrations)
    } catch (error) {
      if (!isLockTimeout(error) || attempt === LOCK_ATTEMPTS) throw error
      await setTimeout(LOCK_PAUSE_MS)
    }
  }
}

async function applyAll(db: Kysely<unknown>, dialect: DialectName, migrations: Migrations): Promise<void> {
  await db.transaction().execute((transaction) => applyMigrations(transaction, dialect, migrations))
}

/** Inside a transaction of the caller. */
export async function applyMigrations(
  transaction: Kysely<unknown>,
  dialect: DialectName,
  migrations: Migrations,
): Promise<void> {
  // On SQLite the transaction itself holds the write lock from its start.
  if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(transaction)
  const bookkeeping = transaction.$extendTables<Bookkeeping>()
  const applied = await appliedMigrations(bookkeeping)
  refuseForeignDatabase(applied, migrations)
  const pending = Object.keys(migrations)
    .sort()
    .filter((name) => !applied.has(name))
  if (pending.length > 0 && dialect === 'postgres') await yieldToQueries(transaction)
  for (const name of pending) {
    const migration = migrations[name] as Migration // of its own keys
    const [change, needs] = typeof migration === 'function' ? [migration, null] : [migration.contract, migration.needs]
    if (needs !== null && !(needs < name && Object.hasOwn(migrations, needs))) {
      throw new Error(`the migration ${name} needs ${needs}, which is none before it`)
    }
    await change(transaction, columnTypesOf(dialect))
    await bookkeeping.insertInto('schema_migrations').values({ name, needs }).execute()
  }
}

const LOCK_TIMEOUT = '55P03'
const LOCK_ATTEMPTS = 40
const LOCK_PAUSE_MS = 1000

/**
 * While a change of a table waits for the queries that use it, all later queries wait behind it; and one of those may
 * hold what the next change waits for. So it gives up and is tried again, before PostgreSQL ends the query of an older
 * release as a deadlock, which it does after a second (`deadlock_timeout`).
 */
async function yieldToQueries(db: Kysely<unknown>): Promise<void> {
  await sql`set local lock_timeout = '500ms'`.execute(db)
}

function isLockTimeout(error: unknown): boolean {
  const cause = isDatabaseUnavailable(error) && (error as Error).cause
  return cause instanceof Error && 'code' in cause && cause.code === LOCK_TIMEOUT
}

/** By name. */
async function appliedMigrations(db: Kysely<Bookkeeping>): Promise<Map<string, AppliedMigration>> {
  await db.schema
    .createTable('schema_migrations')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('needs', 'text')
    .execute()
  const rows = await db.selectFrom('schema_migrations').selectAll().execute()
  // The table of a release that knew of no contractions; it never commits without rows.
  if (rows[0] && !('needs' in rows[0]))
    await db.schema.alterTable('schema_migrations').addColumn('needs', 'text').execute()
  return new Map(rows.map((row) => [row.name, row]))
}

/** A newer release may have expanded the schema, and this one runs beside it or in its place. */
function refuseForeignDatabase(applied: ReadonlyMap<string, AppliedMigration>, migrations: Migrations): void {
  if (applied.has(MOVED_AWAY)) throw new Error('this database was moved to PostgreSQL: set DATABASE_URL to that one')
  const unknown = [...applied.values()].filter(({ name }) => !Object.hasOwn(migrations, name))
  if (unknown.length === 0) return
  const names = unknown.map(({ name }) => name).sort()
  const isMissing = (name: string) => !applied.has(name)
  if (Object.keys(migrations).some(isMissing)) {
    throw new Error(
      `the database has migrations that this release does not know (${names.join(', ')}), and lacks some that it has: ` +
        'it belongs to another service or another line of releases',
    )
  }
  const beyond = unknown.filter(({ needs }) => needs && !Object.hasOwn(migrations, needs))
  if (beyond.length === 0) return
  throw new Error(
    `the database belongs to a newer release, which took away what this one uses (${beyond
      .map(({ name }) => name)
      .sort()
      .join(', ')}): ` +
      `run a release that has the migration ${beyond
        .map(({ needs }) => needs)
        .sort()
        .at(-1)}, or a newer one`,
  )
}
