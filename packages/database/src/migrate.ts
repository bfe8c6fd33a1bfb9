import { setTimeout } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { type ColumnTypes, columnTypesOf, type DialectName } from './dialects.ts'
import { isDatabaseUnavailable } from './unavailable.ts'

export type Change = (db: Kysely<unknown>, column: ColumnTypes) => Promise<void>

/**
 * A function only expands the schema: releases that do not know it go on working beside it. A contraction takes away
 * what some of them use; it names the migration that a release must know to work without.
 */
export type Migration = Change | Contraction | Baseline

interface Contraction {
  /** The migration that came with the first release which does not need what is taken away. */
  needs: string
  contract: Change
}

/**
 * Comes first and creates the schema of a release at once. It has the name of that release's last migration: a database
 * that has it needs no baseline, and one that has only earlier ones must be brought to that release first.
 */
interface Baseline {
  release: string
  /** The first of the migrations that it takes the place of, which tells an older database from another service's. */
  first: string
  create: Change
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
  const applied = await appliedMigrations(bookkeeping, migrations)
  refuseForeignDatabase(applied, migrations)
  const pending = Object.keys(migrations)
    .sort()
    .filter((name) => !applied.has(name))
  if (pending.length > 0 && dialect === 'postgres') await yieldToQueries(transaction)
  for (const name of pending) {
    const { change, needs } = changeOf(migrations[name] as Migration) // of its own keys
    if (needs !== null && !(needs < name && Object.hasOwn(migrations, needs))) {
      throw new Error(`the migration ${name} needs ${needs}, which is none before it`)
    }
    await change(transaction, columnTypesOf(dialect))
    await bookkeeping.insertInto('schema_migrations').values({ name, needs }).execute()
  }
}

/** `needs` is null for one that only expands. */
export function changeOf(migration: Migration): { change: Change; needs: string | null } {
  if (typeof migration === 'function') return { change: migration, needs: null }
  if ('create' in migration) return { change: migration.create, needs: null }
  return { change: migration.contract, needs: migration.needs }
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

/** By name, from the baseline on. */
async function appliedMigrations(
  db: Kysely<Bookkeeping>,
  migrations: Migrations,
): Promise<Map<string, AppliedMigration>> {
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
  const applied = new Map(rows.map((row) => [row.name, row]))
  const names = sinceBaseline([...applied.keys()], migrations)
  return new Map([...applied].filter(([name]) => names.includes(name)))
}

/** The applied migrations without those that the baseline takes the place of. Refuses a database that is older. */
export function sinceBaseline(applied: readonly string[], migrations: Migrations): readonly string[] {
  for (const [name, migration] of Object.entries(migrations)) {
    if (typeof migration === 'function' || !('create' in migration)) continue
    const { release, first } = migration
    if (applied.includes(name)) return applied.filter((other) => other >= name)
    if (applied.includes(first)) {
      throw new Error(
        `the database is older than release ${release}: start release ${release} on it once, then start this release`,
      )
    }
  }
  return applied
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
