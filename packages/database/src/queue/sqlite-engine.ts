// Jobs in a table of the embedded database. Its transactions run one after another, each with the write lock from its
// start, so a value that a transaction read stays valid until it ends.

import { toHex } from '@svc/protocol/bytes'
import { sql } from 'kysely'
import type { Database } from '../open.ts'
import { prepared } from '../prepared.ts'
import { type Engine, LEASE_SECONDS, retryDelaySeconds, type StateCount, WHILE_BEHIND } from './engine.ts'
import type { Tx } from './queue.ts'
import type { QueueTables } from './tables.ts'

export interface SqliteEngineOptions {
  database: Database<QueueTables>
  now: () => number
  randomBytes: (length: number) => Uint8Array
}

export function createSqliteEngine({ database, now, randomBytes }: SqliteEngineOptions): Engine {
  const { db, commit } = database
  let wake = (_kind: string) => {}

  const leaseEnd = () => now() + LEASE_SECONDS * 1000

  const leasedJob = (tx: Tx, job: { id: string; lease: string }) =>
    tx.updateTable('jobs').where('id', '=', job.id).where('lease', '=', job.lease)

  const jobs = (time: number) =>
    db.selectFrom('jobs').select(['id', 'kind', 'key', 'payload', 'attempts', 'due_at as dueAt', stateAt(time)])

  return {
    async insert(tx, { id, kind, key, payload, maxAttempts, delaySeconds }) {
      if (key !== null && (await isWaiting(tx, kind, key))) return false
      const due_at = Math.ceil(now() + delaySeconds * 1000)
      await insertJob(tx, id, kind, key, payload, maxAttempts, due_at)
      // The worker waits for this transaction, and then sees its changes.
      wake(kind)
      return true
    },

    async claim(kind, limit) {
      const lease = toHex(randomBytes(16))
      const due = db
        .selectFrom('jobs')
        .select('id')
        .where('kind', '=', kind)
        .where('due_at', '<=', now())
        .orderBy('due_at')
        .orderBy(sql`rowid`)
        .limit(limit)
      // Read first: an empty result must not take the write lock, which other processes wait for.
      if ((await due.execute()).length === 0) return []
      const rows = await commit(
        (tx) =>
          tx
            .updateTable('jobs')
            .set((eb) => ({ lease, due_at: leaseEnd(), attempts: eb('attempts', '+', 1) }))
            .where('id', 'in', due)
            .returningAll()
            .execute(),
        WHILE_BEHIND,
      )
      return rows.map(({ id, key, payload, max_attempts, attempts }) => ({
        id,
        kind,
        key,
        payload,
        maxAttempts: max_attempts,
        attempt: attempts,
        lease,
      }))
    },

    async renew(job) {
      return changed(
        await commit((tx) => leasedJob(tx, job).set({ due_at: leaseEnd() }).executeTakeFirst(), WHILE_BEHIND),
      )
    },

    async remove(tx, job) {
      const { numDeletedRows } = await tx
        .deleteFrom('jobs')
        .where('id', '=', job.id)
        .where('lease', '=', job.lease)
        .executeTakeFirst()
      return numDeletedRows === 1n
    },

    async retryLater(job) {
      const due_at = Math.ceil(now() + retryDelaySeconds(job.attempt, randomBytes) * 1000)
      return changed(
        await commit((tx) => leasedJob(tx, job).set({ lease: null, due_at }).executeTakeFirst(), WHILE_BEHIND),
      )
    },

    async release(job) {
      const due_at = now()
      await commit(
        (tx) =>
          leasedJob(tx, job)
            .set((eb) => ({ lease: null, due_at, attempts: eb('attempts', '-', 1) }))
            .execute(),
        WHILE_BEHIND,
      )
    },

    // `claim` finds expired leases itself.
    async expireLeases() {},

    async counts() {
      return db
        .selectFrom('jobs')
        .select(['kind', stateAt(now()), (eb) => eb.fn.countAll<number>().as('count')])
        .groupBy(['kind', 'state'])
        .execute()
    },

    async list({ state, kind, after, limit }) {
      const time = now()
      return jobs(time)
        .where('lease', state === 'running' ? 'is not' : 'is', null)
        .$if(state !== 'running', (query) => query.where('due_at', state === 'waiting' ? '<=' : '>', time))
        .$if(kind !== null, (query) => query.where('kind', '=', kind))
        .$if(after !== null, (query) =>
          query.where(({ eb, refTuple, tuple }) => eb(refTuple('due_at', 'id'), '>', tuple(after!.dueAt, after!.id))),
        )
        .orderBy('due_at')
        .orderBy('id')
        .limit(limit)
        .execute()
    },

    async find(id) {
      return (await jobs(now()).where('id', '=', id).executeTakeFirst()) ?? null
    },

    async listen(onJob) {
      wake = onJob
    },

    async close() {
      wake = () => {}
    },
  }
}

function stateAt(time: number) {
  return sql<StateCount['state']>`case when lease is not null then 'running'
    when due_at <= ${time} then 'waiting' else 'delayed' end`.as('state')
}

async function isWaiting(db: Tx, kind: string, key: string): Promise<boolean> {
  const waiting = db.selectFrom('jobs').select('id').where('kind', '=', kind).where('key', '=', key)
  return (await waiting.where('lease', 'is', null).limit(1).executeTakeFirst()) !== undefined
}

function changed({ numUpdatedRows }: { numUpdatedRows: bigint }): boolean {
  return numUpdatedRows === 1n
}

const insertJob = prepared(
  (
    tx: Tx,
    id: string,
    kind: string,
    key: string | null,
    payload: string,
    max_attempts: number | null,
    due_at: number,
  ) => tx.insertInto('jobs').values({ id, kind, key, payload, max_attempts, attempts: 0, lease: null, due_at }),
)
