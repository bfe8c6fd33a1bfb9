// For tests: queues on one database, with one clock.

import { randomBytes } from 'node:crypto'
import type { TestDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { sql } from 'kysely'
import { onTestFinished } from 'vitest'
import { createQueue } from '../../src/queue/create-queue.ts'
import { LEASE_SECONDS } from '../../src/queue/engine.ts'
import type { Drained, Queue } from '../../src/queue/queue.ts'
import type { QueueTables } from '../../src/queue/tables.ts'
import { noteTables, readNotes, START, silentLog, type TestJobs } from './test-jobs.ts'

/** Empties the tables first. */
export async function openTestQueues(database: TestDatabase) {
  const opened = await database.open<QueueTables>(noteTables)
  const { db } = opened
  const clock = { ms: START }
  const open = async () => {
    const options = { database: opened, databaseUrl: database.url, now: () => clock.ms, log: silentLog, randomBytes }
    const queue = await createQueue<TestJobs>(options)
    onTestFinished(() => queue.stop({ graceMs: 0 }))
    return queue
  }
  const queue = await open()
  for (const table of ['jobs', 'dead_jobs', 'schedules', 'notes'])
    await sql`delete from ${sql.table(table)}`.execute(writable(db))
  if (database.dialect === 'postgres') {
    await sql`delete from pgboss.job`.execute(writable(db))
    // Every test starts at the same time, and pg-boss supervises a queue only once per interval.
    await sql`update pgboss.queue set monitor_claim_on = null, monitor_on = null`.execute(writable(db))
  }
  return {
    db,
    /** Shared by all queues. */
    clock,
    queue,
    /** Another queue. */
    open,
    notes: () => readNotes(db),
    /** Enqueues in a transaction of its own. */
    enqueue: (queue: Queue<TestJobs>, text: string, options?: Parameters<Queue<TestJobs>['enqueue']>[3]) =>
      writable(db)
        .transaction()
        .execute((tx) => queue.enqueue(tx, 'note', { text }, options)),
    /** Drains twice, each an hour later, so that leases have expired and failed jobs are due. */
    async drainLater(queue: Queue<TestJobs>) {
      const total: Drained = { done: 0, failed: 0, dead: 0 }
      for (let time = 0; time < 2; time++) {
        clock.ms += 3_600_000
        const drained = await queue.drain()
        for (const outcome of ['done', 'failed', 'dead'] as const) total[outcome] += drained[outcome]
      }
      return total
    },
    /** When the lease of the only running job was last renewed. */
    async lastRenewal() {
      const { rows } = await (database.dialect === 'sqlite'
        ? sql<{ ms: number }>`select due_at - ${LEASE_SECONDS * 1000} as ms from jobs`.execute(db)
        : sql<{ ms: number }>`select round(extract(epoch from heartbeat_on) * 1000) as ms from pgboss.job`.execute(
            writable(db),
          ))
      return rows[0]!.ms
    },
  }
}

/** Keeps handlers waiting until it is opened. */
export function createGate() {
  const opened = Promise.withResolvers<void>()
  const waiting: { count: number; resolve: () => void }[] = []
  let count = 0
  return {
    async pass() {
      count++
      for (const one of waiting) if (count >= one.count) one.resolve()
      await opened.promise
    },
    /** Resolves when this many handlers have arrived. */
    async reached(wanted = 1) {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (count >= wanted) resolve()
      waiting.push({ count: wanted, resolve })
      await promise
    },
    open: opened.resolve,
  }
}
