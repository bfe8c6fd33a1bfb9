import { setTimeout } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { type ColumnTypes, columnTypesOf, type DialectName } from './dialects.ts'
import { isDatabaseUnavailable } from './unavailable.ts'

export type Change = (db: Kysely<unknown>, column: ColumnTypes) => Promise<void>

/**
 * A plain function only expands the schema, so that earlier releases keep running beside this one. A contraction
 * removes what some of them use, and names the migration that a release must have to run without it.
 */
export type Migration = Change | Contraction | Baseline

interface Contraction {
  /** The migration of the first release that does not need what is removed. */
  needs: string
  contract: Change
}

/**
 * Comes first and creates the schema of one release in one step. It has the name of that release's last migration: a
 * database with that migration needs no baseline, and one with only earlier ones must be upgraded to that release
 * first.
 */
interface Baseline {
  release: string
  /** The first migration that it replaces; it distinguishes an older database of this service from another service's. */
  first: string
  create: Change
}

/** Applied in the order of their names: `0001-receipts`, `0002-lockers`, … A released migration is never edited. */
export type Migrations = Readonly<Record<string, Migration>>

type Bookkeeping = { schema_migrations: AppliedMigration }

interface AppliedMigration {
  name: string
  /** Null for a migration that only expands. */
  needs: string | null
}

/** Marks a database whose contents were moved to another: no release starts on it any more. */
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
      throw new Error(`the migration ${name} needs ${needs}, which is not before it`)
    }
    await change(transaction, columnTypesOf(dialect))
    await bookkeeping.insertInto('schema_migrations').values({ name, needs }).execute()
  }
}

/** `needs` is null for a migration that only expands. */
export function changeOf(migration: Migration): { change: Change; needs: string | null } {
  if (typeof migration === 'function') return { change: migration, needs: null }
  if ('create' in migration) return { change: migration.create, needs: null }
  return { change: migration.contract, needs: migration.needs }
}

const LOCK_TIMEOUT = '55P03'
const LOCK_ATTEMPTS = 40
const LOCK_PAUSE_MS = 1000

/**
 * A change of a table waits for the queries that use it, and all later queries wait for the change; one of them may
 * hold what the next change needs. The migration therefore times out and is retried. Otherwise PostgreSQL would end a
 * query of the earlier release as a deadlock after one second (`deadlock_timeout`).
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
  // A release without contractions created the table without this column. The table never commits without rows.
  if (rows[0] && !('needs' in rows[0]))
    await db.schema.alterTable('schema_migrations').addColumn('needs', 'text').execute()
  const applied = new Map(rows.map((row) => [row.name, row]))
  const names = sinceBaseline([...applied.keys()], migrations)
  return new Map([...applied].filter(([name]) => names.includes(name)))
}

/**
 * The applied migrations without those that the baseline replaces. Rejects a database that is older than the baseline.
 */
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

/** A newer release may have expanded the schema: this release runs beside it or replaces it. */
function refuseForeignDatabase(applied: ReadonlyMap<string, AppliedMigration>, migrations: Migrations): void {
  if (applied.has(MOVED_AWAY))
    throw new Error('this database was moved to PostgreSQL: set DATABASE_URL to the new database')
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
    `the database belongs to a newer release, which removed what this one uses (${beyond
      .map(({ name }) => name)
      .sort()
      .join(', ')}): ` +
      `run a release that has the migration ${beyond
        .map(({ needs }) => needs)
        .sort()
        .at(-1)}, or a newer one`,
  )
}
