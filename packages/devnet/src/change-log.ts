// Records changed tables with triggers: for tests that a request changes nothing.

import type { Database } from '@svc/database/open'
import { type Kysely, sql } from 'kysely'
import { tableNames } from './table-names.ts'
import { writable } from './writable.ts'

export interface ChangeLog {
  /** The tables changed since the last call, sorted. A row that is inserted and deleted again is no change. */
  changedTables(): Promise<string[]>
}

type Dialect = Database<unknown>['dialect']

const EVENTS = ['insert', 'update', 'delete'] as const
type Event = (typeof EVENTS)[number]

interface Recording {
  recorded_changes: { id: number; table_name: string; event: Event }
}

export async function watchChanges<Schema>(database: Pick<Database<Schema>, 'db' | 'dialect'>): Promise<ChangeLog> {
  // The table is created here, and tables addressed by name have no types.
  const db = writable(database.db) as unknown as Kysely<Recording>
  const tables = await tableNames(database.db as Kysely<unknown>)
  await createTable(db, database.dialect)
  for (const table of tables) {
    for (const event of EVENTS) await addTrigger(db, database.dialect, table, event)
  }
  let last = 0
  return {
    async changedTables() {
      const rows = await db.selectFrom('recorded_changes').selectAll().where('id', '>', last).orderBy('id').execute()
      last = Number(rows.at(-1)?.id ?? last)
      const byTable = Map.groupBy(rows, ({ table_name }) => table_name)
      const changed = [...byTable].filter(([, changes]) => !isInsertedAndDeleted(changes.map(({ event }) => event)))
      return changed.map(([table]) => table).sort()
    },
  }
}

function isInsertedAndDeleted(events: readonly Event[]): boolean {
  const count = (wanted: Event) => events.filter((event) => event === wanted).length
  return count('insert') > 0 && count('insert') === count('delete')
}

async function createTable(db: Kysely<Recording>, dialect: Dialect): Promise<void> {
  const type = sql.raw(dialect === 'postgres' ? 'bigserial' : 'integer')
  await sql`create table recorded_changes (id ${type} primary key, table_name text not null, event text not null)`.execute(
    db,
  )
  if (dialect !== 'postgres') return
  await sql`
    create function record_change() returns trigger language plpgsql as
    'begin insert into recorded_changes (table_name, event) values (TG_TABLE_NAME, lower(TG_OP)); return null; end'`.execute(
    db,
  )
}

async function addTrigger(db: Kysely<Recording>, dialect: Dialect, table: string, event: Event): Promise<void> {
  const name = sql.id(`record_${event}_${table}`)
  const action =
    dialect === 'postgres'
      ? sql`execute function record_change()`
      : sql`begin insert into recorded_changes (table_name, event) values (${sql.lit(table)}, ${sql.lit(event)}); end`
  await sql`create trigger ${name} after ${sql.raw(event)} on ${sql.table(table)} for each row ${action}`.execute(db)
}
