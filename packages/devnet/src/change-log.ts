// Records with triggers which tables of a database change: for tests that a request changes nothing.

import type { Database } from '@svc/database/open'
import { type Kysely, sql } from 'kysely'
import { tableNames } from './table-names.ts'
import { writable } from './writable.ts'

export interface ChangeLog {
  /** The tables changed since the last call, sorted. A row that is inserted and deleted again is no change. */
  take(): Promise<string[]>
}

type Dialect = Database<unknown>['dialect']

const EVENTS = ['insert', 'update', 'delete'] as const
type Event = (typeof EVENTS)[number]

interface Noted {
  noted_changes: { id: number; table_name: string; event: Event }
}

export async function watchChanges<Schema>(database: Pick<Database<Schema>, 'db' | 'dialect'>): Promise<ChangeLog> {
  // The table is created here, and tables addressed by name have no types.
  const db = writable(database.db) as unknown as Kysely<Noted>
  const tables = await tableNames(database.db as Kysely<unknown>)
  await createTable(db, database.dialect)
  for (const table of tables) {
    for (const event of EVENTS) await addTrigger(db, database.dialect, table, event)
  }
  let last = 0
  return {
    async take() {
      const rows = await db.selectFrom('noted_changes').selectAll().where('id', '>', last).orderBy('id').execute()
      last = Number(rows.at(-1)?.id ?? last)
      const byTable = Map.groupBy(rows, ({ table_name }) => table_name)
      const changed = [...byTable].filter(([, changes]) => !cameAndWent(changes.map(({ event }) => event)))
      return changed.map(([table]) => table).sort()
    },
  }
}

function cameAndWent(events: readonly Event[]): boolean {
  const count = (wanted: Event) => events.filter((event) => event === wanted).length
  return count('insert') > 0 && count('insert') === count('delete')
}

async function createTable(db: Kysely<Noted>, dialect: Dialect): Promise<void> {
  const type = sql.raw(dialect === 'postgres' ? 'bigserial' : 'integer')
  await sql`create table noted_changes (id ${type} primary key, table_name text not null, event text not null)`.execute(
    db,
  )
  if (dialect !== 'postgres') return
  await sql`
    create function note_change() returns trigger language plpgsql as
    'begin insert into noted_changes (table_name, event) values (TG_TABLE_NAME, lower(TG_OP)); return null; end'`.execute(
    db,
  )
}

async function addTrigger(db: Kysely<Noted>, dialect: Dialect, table: string, event: Event): Promise<void> {
  const name = sql.id(`note_${event}_${table}`)
  const action =
    dialect === 'postgres'
      ? sql`execute function note_change()`
      : sql`begin insert into noted_changes (table_name, event) values (${sql.lit(table)}, ${sql.lit(event)}); end`
  await sql`create trigger ${name} after ${sql.raw(event)} on ${sql.table(table)} for each row ${action}`.execute(db)
}
