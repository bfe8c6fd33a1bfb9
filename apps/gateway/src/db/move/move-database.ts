// Moves all data of a gateway from SQLite to an empty PostgreSQL database, in one transaction: all of it or nothing.
// The file stays unchanged, except that no gateway starts on it any more.

import type { DatabaseSync } from 'node:sqlite'
import { createCommit } from '@svc/database/commit'
import { applyMigrations, sinceBaseline } from '@svc/database/migrate'
import { createPostgresDialect } from '@svc/database/postgres'
import { openBossEngine } from '@svc/database/queue/pg-boss-engine'
import { openSqliteExclusively } from '@svc/database/sqlite-file'
import { Kysely, type RawBuilder, sql } from 'kysely'
import { migrations } from '../migrations.ts'
import type { Schema, Tx } from '../schema.ts'
import { addRows, type Content, emptyContent } from './content-digest.ts'
import { markAsMoved, type Row, readBatches, readMigrations, readTables, type SourceTable } from './source.ts'

export interface MoveOptions {
  sqlitePath: string
  postgresUrl: string
  /** Called for each table after its rows were copied, read back and compared. */
  onTable: (name: string, content: Content) => void
}

export interface Moved {
  tables: number
  rows: number
  jobs: number
}

/** In PostgreSQL, jobs are in the tables of pg-boss. */
const JOBS = 'jobs'

export async function moveDatabase({ sqlitePath, postgresUrl, onTable }: MoveOptions): Promise<Moved> {
  await using opened = new AsyncDisposableStack()
  const source = openSqliteExclusively(sqlitePath)
  opened.defer(() => source.close())
  refuseOtherRelease(sinceBaseline(readMigrations(source), migrations))
  const target = new Kysely<Schema>({
    dialect: createPostgresDialect(postgresUrl, { connections: 2, statementSeconds: 0 }),
  })
  opened.defer(() => target.destroy())
  await refuseFilled(target)
  const log = { warn: () => {}, error: () => {} }
  const engine = await openBossEngine({
    database: { db: target, commit: createCommit(target, 'postgres') },
    databaseUrl: postgresUrl,
    log,
    now: Date.now,
  })
  opened.defer(() => engine.close())

  const moved = await target.transaction().execute(async (tx) => {
    // Migrations do not know the types of the tables.
    await applyMigrations(tx as unknown as Kysely<unknown>, 'postgres', migrations)
    const tables = readTables(source)
    await refuseOtherTables(tx, tables)
    await sql`lock table ${sql.join(tables.map(({ name }) => sql.table(name)))} in access exclusive mode`.execute(tx)
    let rows = 0
    for (const table of tables.filter(({ name }) => name !== JOBS)) {
      const content = await copyTable(source, tx, table)
      await requireEqual(tx, table, content)
      rows += content.rows
      onTable(table.name, content)
    }
    const jobs = await moveJobs(source, (job) => engine.insert(tx, job))
    await sql`analyze`.execute(tx)
    return { tables: tables.length, rows, jobs }
  })
  // A crash before this leaves both databases complete: the next run then reports a target that is not empty.
  markAsMoved(source)
  return moved
}

function refuseOtherRelease(found: readonly string[]): void {
  const known = Object.keys(migrations).sort()
  if (found.join() === known.join()) return
  const pending = known.filter((name) => !found.includes(name))
  throw new Error(
    found.length === 0
      ? 'the SQLite file does not belong to a gateway'
      : pending.length > 0
        ? `the SQLite file belongs to an older release (it lacks ${pending.join(', ')}): start this release on it once, stop it, and run this command again`
        : `the SQLite file belongs to another release or was already moved (it has ${found.filter((name) => !known.includes(name)).join(', ')})`,
  )
}

async function refuseFilled(target: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select table_name as name from information_schema.tables
    where table_schema = current_schema() order by 1`.execute(target)
  const jobs = await sql<{ found: boolean }>`select to_regclass('pgboss.job') is not null as found`.execute(target)
  const waiting = jobs.rows[0]?.found ? await sql`select 1 from pgboss.job limit 1`.execute(target) : { rows: [] }
  if (rows.length === 0 && waiting.rows.length === 0) return
  const found =
    rows.length > 0
      ? `the tables ${rows
          .slice(0, 5)
          .map(({ name }) => name)
          .join(', ')}${rows.length > 5 ? ', …' : ''}`
      : 'jobs'
  throw new Error(`the PostgreSQL database is not empty (it has ${found}): create a new one. Nothing was changed.`)
}

async function refuseOtherTables(tx: Tx, tables: readonly SourceTable[]): Promise<void> {
  const { rows } = await sql<{ name: string; columns: string[] }>`
    select table_name as name, array_agg(cast(column_name as text) order by column_name collate "C") as columns
    from information_schema.columns where table_schema = current_schema() and table_name <> 'schema_migrations'
    group by table_name`.execute(tx)
  const there = new Map(rows.map(({ name, columns }) => [name, columns.join()]))
  const differs = tables.find(({ name, columns }) => there.get(name) !== columns.join())
  if (differs || there.size !== tables.length) {
    throw new Error(`the table ${differs?.name ?? 'list'} of the SQLite file differs from the schema of this release`)
  }
}

/** The limit of PostgreSQL for parameters of one statement, and a limit for memory. */
const MAX_PARAMETERS = 60_000
const MAX_BATCH = 1000

async function copyTable(source: DatabaseSync, tx: Tx, table: SourceTable): Promise<Content> {
  const { columns } = table
  const content = emptyContent()
  const name = sql.table(table.name)
  // Triggers record changes of rows, and their records are moved as well. Some migrations insert rows of their own.
  await sql`alter table ${name} disable trigger user`.execute(tx)
  await sql`delete from ${name}`.execute(tx)
  const list = sql.join(columns.map((column) => sql.ref(column)))
  const size = Math.min(MAX_BATCH, Math.floor(MAX_PARAMETERS / columns.length))
  for (const rows of readBatches(source, table, size)) {
    await sql`insert into ${name} (${list}) values ${sql.join(rows.map((row) => tuple(row, columns)))}`.execute(tx)
    addRows(content, columns, rows)
  }
  await sql`alter table ${name} enable trigger user`.execute(tx)
  return content
}

function tuple(row: Row, columns: readonly string[]): RawBuilder<unknown> {
  return sql`(${sql.join(columns.map((column) => row[column]))})`
}

/** Reads back the written rows. */
async function requireEqual(tx: Tx, { name, columns }: SourceTable, written: Content): Promise<void> {
  const content = emptyContent()
  const select = tx.selectFrom(name as keyof Schema).selectAll()
  for await (const row of select.stream(MAX_BATCH)) addRows(content, columns, [row as unknown as Row])
  if (content.rows === written.rows && content.digest === written.digest) return
  throw new Error(
    `the table ${name} differs in PostgreSQL (${content.rows} of ${written.rows} rows). Nothing was changed.`,
  )
}

interface StoredJob {
  id: string
  kind: string
  key: string | null
  payload: string
  max_attempts: number | null
  due_at: number
}

type Insert = (
  job: Omit<StoredJob, 'max_attempts' | 'due_at'> & { maxAttempts: number | null; delaySeconds: number },
) => Promise<boolean>

/**
 * Keeps the ids. Of two jobs with one key, one of which was running, the one due first stays, as when a job is
 * enqueued.
 */
async function moveJobs(source: DatabaseSync, insert: Insert): Promise<number> {
  let count = 0
  const select = source.prepare(`select id, kind, key, payload, max_attempts, due_at from ${JOBS} order by due_at, id`)
  for (const row of select.iterate()) {
    const { id, kind, key, payload, max_attempts, due_at } = row as unknown as StoredJob // the columns of createQueueTables
    const delaySeconds = Math.max(0, (due_at - Date.now()) / 1000)
    if (await insert({ id, kind, key, payload, maxAttempts: max_attempts, delaySeconds })) count++
  }
  return count
}
