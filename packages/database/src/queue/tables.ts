// The tables of the queue, which services create in their own migrations. This migration is released and never edited.

import type { Change } from '../migrate.ts'

export interface QueueTables {
  jobs: JobTable
  dead_jobs: DeadJobTable
  schedules: ScheduleTable
}

interface StoredJob {
  id: string
  kind: string
  key: string | null
  /** JSON. */
  payload: string
  max_attempts: number | null
  /** The number of runs that began. */
  attempts: number
}

/** Jobs of the embedded database. On PostgreSQL jobs are in pg-boss's own schema, and this table stays empty. */
interface JobTable extends StoredJob {
  /** Identifies the current run; null while the job waits. */
  lease: string | null
  /** When the job may be claimed: the due time, or, while it runs, the end of its lease. Unix milliseconds. */
  due_at: number
}

/** Jobs that failed permanently. */
export interface DeadJobTable extends StoredJob {
  error: string
  failed_at: string
}

export interface ScheduleTable {
  name: string
  /** Unix milliseconds. */
  next_at: number
}

export const createQueueTables: Change = async (db, column) => {
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
