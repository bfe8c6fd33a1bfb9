import { writable } from '@svc/devnet/writable'
// For tests: kinds of jobs, and a table that their effects write notes to.

import type { Migrations } from '../../src/migrate.ts'
import type { Reader } from '../../src/open.ts'
import type { Effect } from '../../src/queue/queue.ts'
import { createQueueTables, type QueueTables } from '../../src/queue/tables.ts'

export interface TestJobs {
  note: { text: string }
  tick: Record<string, never>
  other: { text: string }
}

type NoteTables = { notes: { text: string } }

/** The table has no unique key, so that a duplicate effect is visible. */
export const noteTables: Migrations = {
  '0001-queue': createQueueTables,
  '9000-notes': async (db, column) => {
    await db.schema.createTable('notes').addColumn('text', column.text).execute()
  },
}

export const START = 1_800_000_000_000
export const silentLog = { warn() {}, error() {} }

export function writeNote(text: string): Effect {
  return async (tx) => void (await tx.$extendTables<NoteTables>().insertInto('notes').values({ text }).execute())
}

export async function readNotes(db: Reader<QueueTables>): Promise<string[]> {
  const rows = await writable(db).$extendTables<NoteTables>().selectFrom('notes').select('text').execute()
  return rows.map(({ text }) => text).sort()
}
