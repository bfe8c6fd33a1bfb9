// The tables of the queue. Services put them among their own; what creates them has landed and is never edited.

import type { Migration } from '@svc/database/migrate'

export interface QueueTables {
  jobs: JobTable
  dead_jobs: DeadJobTable
  schedules: ScheduleTable
}

/** Jobs of the embedded database. On PostgreSQL they are pg-boss's, in a schema of its own, and this stays empty. */
interface JobTable {
  id: string
  kind: string
  key: string | null
  /** JSON. */
  payload: string
  max_attempts: number | null
  /** Runs begun. */
  attempts: number
  /** Of who runs it; null while it waits. */
  lease: string | null
  /** When it may be taken: while it waits, when it is due; while it runs, when its lease ends. Unix milliseconds. */
  due_at: number
}

/** Jobs that failed for good. */
export interface DeadJobTable {
  id: string
  kind: string
  key: string | null
  /** JSON. */
  payload: string
  max_attempts: number | null
  attempts: number
  error: string
  failed_at: string
}

export interface ScheduleTable {
  name: string
  /** Unix milliseconds. */
  next_at: number
}

export const createQueueTables: Migration = async (db, column) => {
  await db.schema
    .createTable('jobs')
    .addColumn('id', column.text, (c) => c.primaryKey())
    .addColumn('kind', column.text, (c) => c.notNull())
    .addColumn('key', column.text)
    .addColumn('payload', column.text, (c) => c.notNull())
    .addColumn('max_attempts', column.integer)
    .addColumn('attempts', column.integer, (c) => c.notNull())
    .addColumn('lease', column.text)
    .addColumn('due_at', column.integer, (c) => c.notNull())
    .execute()
  await db.schema.createIndex('jobs_due_at').on('jobs').columns(['kind', 'due_at']).execute()
  await db.schema.createIndex('jobs_key').on('jobs').columns(['kind', 'key']).where('key', 'is not', null).execute()
  await db.schema
    .createTable('dead_jobs')
    .addColumn('id', column.text, (c) => c.primaryKey())
    .addColumn('kind', column.text, (c) => c.notNull())
    .addColumn('key', column.text)
    .addColumn('payload', column.text, (c) => c.notNull())
    .addColumn('max_attempts', column.integer)
    .addColumn('attempts', column.integer, (c) => c.notNull())
    .addColumn('error', column.text, (c) => c.notNull())
    .addColumn('failed_at', column.text, (c) => c.notNull())
    .execute()
  await db.schema.createIndex('dead_jobs_failed_at').on('dead_jobs').column('failed_at').execute()
  await db.schema
    .createTable('schedules')
    .addColumn('name', column.text, (c) => c.primaryKey())
    .addColumn('next_at', column.integer, (c) => c.notNull())
    .execute()
}
