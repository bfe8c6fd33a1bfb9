// Numbered. A released migration is never edited. Only SQLite is used.

import type { Migrations } from '@svc/database/migrate'

export const migrations: Migrations = {
  '0001-witness': async (db, column) => {
    await db.schema
      .createTable('cosigned')
      .addColumn('origin', column.text, (c) => c.primaryKey())
      .addColumn('origin_hash', column.text, (c) => c.notNull().unique())
      .addColumn('size', column.integer, (c) => c.notNull())
      .addColumn('root', column.text, (c) => c.notNull())
      .addColumn('note', column.text, (c) => c.notNull())
      .addColumn('cosigned_at', column.integer, (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('alarms')
      .addColumn('id', column.integer, (c) => c.primaryKey().autoIncrement())
      .addColumn('origin', column.text, (c) => c.notNull())
      .addColumn('kind', column.text, (c) => c.notNull())
      .addColumn('cause', column.text, (c) => c.notNull())
      .addColumn('message', column.text, (c) => c.notNull())
      .addColumn('evidence', column.text, (c) => c.notNull())
      .addColumn('raised_at', column.integer, (c) => c.notNull())
      .addColumn('resolved_at', column.integer)
      .addUniqueConstraint('alarms_cause', ['origin', 'kind', 'cause'])
      .execute()
  },
}
