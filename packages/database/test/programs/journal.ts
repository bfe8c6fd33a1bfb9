import { sql } from 'kysely'
import type { Migrations } from '../../src/migrate.ts'

export interface JournalSchema {
  journal: { entry: string }
  counter: { value: number }
}

/** Each migration writes its name, so that the journal shows how often it ran. */
export const journalMigrations: Migrations = {
  '0001-journal': async (db, column) => {
    await db.schema.createTable('journal').addColumn('entry', column.text).execute()
    await sql`insert into journal (entry) values ('0001-journal')`.execute(db)
  },
  '0002-counter': async (db, column) => {
    await db.schema.createTable('counter').addColumn('value', column.integer).execute()
    await sql`insert into counter (value) values (0)`.execute(db)
    await sql`insert into journal (entry) values ('0002-counter')`.execute(db)
  },
  '0003-index': async (db) => {
    await db.schema.createIndex('journal_by_entry').on('journal').column('entry').execute()
    await sql`insert into journal (entry) values ('0003-index')`.execute(db)
  },
}
