// Recurring jobs. The process that advances a schedule enqueues the job in the same transaction.

import type { Database } from '../open.ts'
import { WHILE_BEHIND } from './engine.ts'
import type { Tx } from './queue.ts'
import { findSchedules, insertSchedules, moveSchedule } from './store.ts'
import type { QueueTables, ScheduleTable } from './tables.ts'

type Parts = Pick<Database<QueueTables>, 'db' | 'commit'>

export interface Schedule {
  name: string
  periodMs: number
  enqueue(tx: Tx): Promise<unknown>
}

export async function fireSchedules(
  { db, commit }: Parts,
  schedules: ReadonlyMap<string, Schedule>,
  now: number,
): Promise<void> {
  if (schedules.size === 0) return
  for (const row of await findOrInsert({ db, commit }, [...schedules.keys()], now)) {
    const schedule = schedules.get(row.name) as Schedule
    if (row.next_at <= now) await fire(commit, schedule, row, now)
    // The clock was ahead, or the period became shorter: wait at most one period.
    else if (row.next_at > now + schedule.periodMs) {
      await commit((tx) => moveSchedule(tx, row, now + schedule.periodMs), WHILE_BEHIND)
    }
  }
}

async function findOrInsert({ db, commit }: Parts, names: readonly string[], now: number): Promise<ScheduleTable[]> {
  const rows = await findSchedules(db, names)
  if (rows.length === names.length) return rows
  const added = names.map((name) => ({ name, next_at: now }))
  await commit((tx) => insertSchedules(tx, added), WHILE_BEHIND)
  return findSchedules(db, names)
}

async function fire(commit: Parts['commit'], schedule: Schedule, row: ScheduleTable, now: number): Promise<void> {
  const missed = Math.floor((now - row.next_at) / schedule.periodMs)
  const next = row.next_at + (missed + 1) * schedule.periodMs
  await commit(async (tx) => {
    if (await moveSchedule(tx, row, next)) await schedule.enqueue(tx)
  }, WHILE_BEHIND)
}
