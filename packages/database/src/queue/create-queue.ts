import { toHex } from '@svc/protocol/bytes'
import type { Database } from '../open.ts'
import type { Engine, Job, StoredJob } from './engine.ts'
import type { JobCounts, ListedJob, Queue, Tx } from './queue.ts'
import type { QueueLog } from './run-job.ts'
import { fireSchedules, type Schedule } from './schedules.ts'
import { createSqliteEngine } from './sqlite-engine.ts'
import { countDeadJobs, deleteDeadJobs, findDeadJob, newestDeadJobs, removeDeadJob } from './store.ts'
import type { DeadJobTable, QueueTables } from './tables.ts'
import { type JobTraces, payloadText, readPayload } from './traced-jobs.ts'
import { createWorkers } from './workers.ts'

export interface QueueOptions {
  database: Database<QueueTables>
  databaseUrl: string
  log: QueueLog
  /**
   * Unix milliseconds. When this is `Date.now` itself, the queue uses PostgreSQL's clock, which all processes share.
   */
  now: () => number
  randomBytes: (length: number) => Uint8Array
  /** While this returns true, this process starts no jobs; other processes do. */
  isPaused?: () => boolean
  /** Null when nothing is traced. */
  traces?: JobTraces | null
}

const GRACE_MS = 30_000
const MAX_ATTEMPTS = 10
const MAX_DEAD_LETTERS = 100
const DEAD_LETTER_TTL_MS = 90 * 86_400_000

export async function createQueue<Jobs>(options: QueueOptions): Promise<Queue<Jobs>> {
  const { database, log, now, randomBytes, isPaused = () => false, traces = null } = options
  const { db, commit } = database
  const engine = await openEngine(options)
  const schedules = new Map<string, Schedule>()
  const workers = createWorkers({ commit, engine, log, now, isPaused }, () => fireSchedules(database, schedules, now()))

  async function insert(tx: Tx, job: Omit<Job, 'id'>, delaySeconds = 0): Promise<string | null> {
    const id = uuid(randomBytes(16))
    return (await engine.insert(tx, { id, ...job, delaySeconds })) ? id : null
  }

  async function retryDeadIn(tx: Tx, id: string): Promise<{ id: string | null } | null> {
    const dead = await removeDeadJob(tx, id)
    if (!dead) return null
    const { kind, key, payload, max_attempts } = dead
    return { id: await insert(tx, { kind, key, payload, maxAttempts: max_attempts }) }
  }

  return {
    enqueue(tx, kind, payload, { key = null, maxAttempts = null, delaySeconds = 0 } = {}) {
      return insert(
        tx,
        { kind, key, payload: payloadText(payload, traces?.active() ?? null), maxAttempts },
        delaySeconds,
      )
    },

    handle(kind, { concurrency = 1, maxAttempts = MAX_ATTEMPTS }, handler) {
      workers.add(kind, {
        concurrency,
        maxAttempts,
        handle(text, run) {
          const { payload, traceparent } = readPayload(text)
          const work = () => handler(payload as never, run)
          return traceparent === null || !traces ? work() : traces.run({ kind, run, traceparent }, work)
        },
      })
    },

    every(seconds, kind, payload) {
      if (schedules.has(kind)) throw new Error(`jobs of the kind ${kind} already have a schedule`)
      // All jobs of the schedule have one key: while one waits, no second job is enqueued.
      const job = { kind, key: 'schedule', payload: JSON.stringify(payload), maxAttempts: null }
      schedules.set(kind, { name: kind, periodMs: seconds * 1000, enqueue: (tx) => insert(tx, job) })
    },

    start: workers.start,
    stop: ({ graceMs = GRACE_MS } = {}) => workers.stop(graceMs),
    drain: workers.drain,

    async deadLetters(limit = MAX_DEAD_LETTERS) {
      const rows = await newestDeadJobs(db, { limit })
      return rows.map(({ id, kind, payload, error, attempts, failed_at }) => ({
        id,
        kind,
        payload: readPayload(payload).payload,
        error,
        attempts,
        failed_at,
      }))
    },

    async retryDead(id) {
      return commit(async (tx) => (await retryDeadIn(tx, id)) !== null)
    },

    retryDeadIn,

    async deleteDeadIn(tx, id) {
      return (await removeDeadJob(tx, id)) !== null
    },

    async list({ state, kind, after, limit }) {
      if (state === 'dead') {
        const failed = after && { failedAt: new Date(after.at).toISOString(), id: after.id }
        return (await newestDeadJobs(db, { kind, after: failed, limit })).map(deadJob)
      }
      const due = after && { dueAt: after.at, id: after.id }
      return (await engine.list({ state, kind, after: due, limit })).map(storedJob)
    },

    async find(id) {
      const stored = await engine.find(id)
      if (stored) return storedJob(stored)
      const dead = await findDeadJob(db, id)
      return dead && deadJob(dead)
    },

    deleteOldDead: () => commit((tx) => deleteDeadJobs(tx, new Date(now() - DEAD_LETTER_TTL_MS).toISOString())),

    async counts() {
      const counts: Record<string, JobCounts> = {}
      const of = (kind: string) => (counts[kind] ??= { waiting: 0, delayed: 0, running: 0, dead: 0 })
      for (const kind of workers.kinds()) of(kind)
      for (const { kind, state, count } of await engine.counts()) of(kind)[state] = count
      for (const { kind, count } of await countDeadJobs(db)) of(kind).dead = count
      return counts
    },
  }
}

function storedJob({ dueAt, payload, ...job }: StoredJob): ListedJob {
  return { ...job, payload: readPayload(payload).payload, at: dueAt, error: null }
}

function deadJob({ id, kind, key, payload, attempts, error, failed_at }: DeadJobTable): ListedJob {
  return {
    id,
    kind,
    key,
    payload: readPayload(payload).payload,
    state: 'dead',
    attempts,
    at: Date.parse(failed_at),
    error,
  }
}

/** Loads pg-boss only when it is needed. */
async function openEngine({ database, databaseUrl, log, now, randomBytes }: QueueOptions): Promise<Engine> {
  if (database.dialect === 'sqlite') return createSqliteEngine({ database, now, randomBytes })
  const { openBossEngine } = await import('./pg-boss-engine.ts')
  return openBossEngine({ database, databaseUrl, log, now })
}

function uuid(bytes: Uint8Array): string {
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
