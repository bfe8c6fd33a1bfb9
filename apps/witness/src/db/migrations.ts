// Numbered. A released migration is never edited. Only SQLite is used.

import type { Change, Migrations } from '@svc/database/migrate'
import { sql } from 'kysely'

/** The schema of release 1.1.0. */
const createBaseline: Change = async (db, column) => {
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
    .addColumn('reported_at', column.integer)
    .addUniqueConstraint('alarms_cause', ['origin', 'kind', 'cause'])
    .execute()
  await db.schema
    .createTable('monitored_logs')
    .addColumn('origin', column.text, (c) => c.primaryKey())
    .addColumn('followed_at', column.integer, (c) => c.notNull())
    .addColumn('checkpoint', column.text)
    .addColumn('judged', column.integer, (c) => c.notNull())
    .addColumn('absent_at', column.integer)
    .addColumn('anchored', column.integer, (c) => c.notNull())
    .addColumn('rechecked', column.integer, (c) => c.notNull())
    .addColumn('pinned', column.text)
    .addColumn('read_at', column.integer, (c) => c.notNull())
    .addColumn('problem', column.text)
    .execute()
  await db.schema
    .createTable('monitored_chains')
    .addColumn('origin', column.text, (c) => c.notNull())
    .addColumn('proof_id', column.text, (c) => c.notNull())
    .addColumn('envelope', column.text, (c) => c.notNull())
    .addPrimaryKeyConstraint('monitored_chains_pk', ['origin', 'proof_id'])
    .execute()
}

export const migrations: Migrations = {
  '0002-monitor': { release: '1.1.0', first: '0001-witness', create: createBaseline },

  '0003-left-out': async (db, column) => {
    await db.schema
      .createTable('left_out')
      .addColumn('id', column.integer, (c) => c.primaryKey().autoIncrement())
      .addColumn('origin', column.text, (c) => c.notNull())
      .addColumn('digest', column.text, (c) => c.notNull())
      .addUniqueConstraint('left_out_digest', ['origin', 'digest'])
      .execute()
    await sql`insert into left_out (origin, digest)
      select distinct origin, cause from alarms where kind in ('vanished_statement', 'bad_statement')`.execute(db)
  },
}
