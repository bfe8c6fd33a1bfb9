// Recurring jobs. The process that moves a schedule to its next time enqueues the job in the same transaction.

import type { Kysely } from 'kysely'
import type { Tx } from './queue.ts'
import { findSchedules, insertSchedules, moveSchedule } from './store.ts'
import type { QueueTables, ScheduleTable } from './tables.ts'

export interface Schedule {
  name: string
  periodMs: number
  enqueue(tx: Tx): Promise<unknown>
}

export async function fireSchedules(
  db: Kysely<QueueTables>,
  schedules: ReadonlyMap<string, Schedule>,
  now: number,
): Promise<void> {
  if (schedules.size === 0) return
  for (const row of await findOrInsert(db, [...schedules.keys()], now)) {
    const schedule = schedules.get(row.name) as Schedule
    if (row.next_at <= now) await fire(db, schedule, row, now)
    // The clock ran ahead, or the period became shorter: do not wait longer than one period.
    else if (row.next_at > now + schedule.periodMs) {
      await moveSchedule(db, row, now + schedule.periodMs)
    }
  }
}

async function findOrInsert(db: Kysely<QueueTables>, names: readonly string[], now: number): Promise<ScheduleTable[]> {
  const rows = await findSchedules(db, names)
  if (rows.length === names.length) return rows
  await insertSchedules(
    db,
    names.map((name) => ({ name, next_at: now })),
  )
  return findSchedules(db, names)
}

async function fire(db: Kysely<QueueTables>, schedule: Schedule, row: ScheduleTable, now: number): Promise<void> {
  const missed = Math.floor((now - row.next_at) / schedule.periodMs)
  const next = row.next_at + (missed + 1) * schedule.periodMs
  await db.transaction().execute(async (tx) => {
    if (await moveSchedule(tx, row, next)) await schedule.enqueue(tx)
  })
}
