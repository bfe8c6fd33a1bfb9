// Jobs in pg-boss, which has its own schema and connections. Changes that must be atomic with others use the given
// transaction. Two operations query pg-boss's table directly, because it has no call for them: locking a waiting job,
// and counting jobs exactly.

import { singleFlight } from '@svc/concurrency/sharing'
import { sql } from 'kysely'
import { type CommandResponse, fromKysely, type JobWithMetadata, PgBoss, type SendOptions } from 'pg-boss'
import type { Database } from '../open.ts'
import { unavailable } from '../unavailable.ts'
import {
  type ClaimedJob,
  type Engine,
  FIRST_RETRY_SECONDS,
  LEASE_SECONDS,
  MAX_RETRY_SECONDS,
  type StateCount,
  type StoredJob,
  WHILE_BEHIND,
} from './engine.ts'
import { addKeyIndex, injectTime } from './pg-boss-schema.ts'
import type { Tx } from './queue.ts'
import type { QueueLog } from './run-job.ts'
import type { QueueTables } from './tables.ts'

export interface BossEngineOptions {
  database: Pick<Database<QueueTables>, 'db' | 'commit'>
  databaseUrl: string
  log: QueueLog
  now: () => number
}

interface JobData {
  /** JSON as text: pg-boss stores `jsonb`, which cannot hold every JSON string. */
  payload: string
  max_attempts: number | null
  /** Runs that do not count, because they were released. */
  spared: number
}

const CHANNEL = 'svc_queue'
const CONNECTIONS = 4
/** How often pg-boss checks for expired leases. */
const SUPERVISE_SECONDS = 15
const UNLIMITED = 2_000_000_000

/** The runner decides how often a job is retried, so pg-boss must never stop retrying. */
const JOB_OPTIONS: SendOptions = {
  retryLimit: UNLIMITED,
  retryBackoff: true,
  retryDelay: FIRST_RETRY_SECONDS,
  retryDelayMax: MAX_RETRY_SECONDS,
  retentionSeconds: UNLIMITED,
  heartbeatSeconds: LEASE_SECONDS,
  // The longest time that pg-boss allows.
  expireInSeconds: 24 * 3600,
}

export async function openBossEngine({ database, databaseUrl, log, now }: BossEngineOptions): Promise<Engine> {
  const { db, commit } = database
  const boss = new PgBoss({
    connectionString: databaseUrl,
    max: CONNECTIONS,
    schedule: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  })
  boss.on('error', (error) => log.error({ err: error }, 'pg-boss reports an error'))
  boss.on('warning', (warning) => log.warn({ warning }, 'pg-boss reports a warning'))
  const syncTime = await startBoss(boss, now)
  const existing = new Set<string>()
  const createOnce = singleFlight<void>()
  let listener: { close(): Promise<void> } | undefined

  /** pg-boss needs a queue for each kind before it accepts jobs. */
  async function prepare(kind: string): Promise<void> {
    try {
      if (!existing.has(kind)) await createOnce(kind, () => boss.createQueue(kind))
      existing.add(kind)
      await syncTime()
    } catch (error) {
      // pg-boss uses its own connections, and nothing but a connection can fail here.
      throw unavailable(error)
    }
  }

  return {
    async insert(tx, { id, kind, key, payload, maxAttempts, delaySeconds }) {
      await prepare(kind)
      if (delaySeconds === 0) await sql`select pg_notify(${CHANNEL}, ${kind})`.execute(tx)
      if (key !== null && (await isWaiting(tx, kind, key))) return false
      const data: JobData = { payload, max_attempts: maxAttempts, spared: 0 }
      const options = { ...JOB_OPTIONS, id, startAfter: delaySeconds, ...(key !== null && { singletonKey: key }) }
      const send = () => boss.send(kind, data, { ...options, db: fromKysely(tx) })
      if ((await send()) !== null) return true
      // The database may have been restored to a moment before the queue was created.
      existing.delete(kind)
      await prepare(kind)
      if ((await send()) === null) throw new Error(`a job ${id} already exists`)
      return true
    },

    async claim(kind, limit) {
      await prepare(kind)
      const jobs = await boss.fetch<JobData>(kind, { batchSize: limit, includeMetadata: true })
      return jobs.map(toClaimedJob)
    },

    async renew(job) {
      await syncTime()
      return changedOne(await boss.touch(job.kind, runOf(job)))
    },

    async remove(tx, job) {
      return changedOne(await boss.deleteJob(job.kind, runOf(job), { db: fromKysely(tx) }))
    },

    async retryLater(job) {
      await syncTime()
      return changedOne(await boss.fail(job.kind, runOf(job)))
    },

    async release(job) {
      const { id, kind, payload, maxAttempts } = job
      await commit(async (tx) => {
        const within = { db: fromKysely(tx) }
        if (!changedOne(await boss.cancel(kind, runOf(job), within))) return
        await boss.resume(kind, id, within)
        const spared = runOf(job).retryCount + 1 - job.attempt
        const data: JobData = { payload, max_attempts: maxAttempts, spared: spared + 1 }
        await boss.update(kind, data, { id, ...within })
      }, WHILE_BEHIND)
    },

    async expireLeases() {
      await syncTime()
      await boss.supervise()
    },

    async counts() {
      await syncTime()
      const { rows } = await sql<StateCount>`
        select name as kind, count(*) as count, ${STATE} as state
        from pgboss.job where state < 'completed' group by 1, 3`.execute(db)
      return rows
    },

    async list({ state, kind, after, limit }) {
      await syncTime()
      const { rows } = await sql<BossRow>`
        select * from (${STORED_JOBS}) as stored where state = ${state}
          ${kind === null ? sql`` : sql`and kind = ${kind}`}
          ${after === null ? sql`` : sql`and ("dueAt", id) > (${after.dueAt}, ${after.id})`}
        order by "dueAt", id limit ${limit}`.execute(db)
      return rows.map(toStoredJob)
    },

    async find(id) {
      await syncTime()
      const { rows } = await sql<BossRow>`select * from (${STORED_JOBS}) as stored where id = ${id}`.execute(db)
      return rows[0] ? toStoredJob(rows[0]) : null
    },

    async listen(wake) {
      try {
        listener = await boss.getDb().listen?.(CHANNEL, wake, () => {})
      } catch (error) {
        log.warn({ err: error }, 'cannot listen for new jobs; they are found by polling')
      }
    },

    async close() {
      await listener?.close()
      await boss.stop({ graceful: false })
    },
  }
}

/** Returns the function that passes the injected time on to pg-boss. */
async function startBoss(boss: PgBoss, now: () => number): Promise<() => Promise<void>> {
  try {
    await boss.start()
    await addKeyIndex(boss)
    return await injectTime(boss, now)
  } catch (error) {
    // Otherwise its timers and connections keep the process alive.
    await boss.stop({ graceful: false })
    throw error
  }
}

const STATE = sql`case when state = 'active' then 'running'
  when start_after <= pgboss.job_now() then 'waiting' else 'delayed' end`

/** Compared as text, so that an id that is not a UUID simply does not exist. */
const STORED_JOBS = sql`select cast(id as text) as id, name as kind, singleton_key as key, data,
  retry_count as runs, cast(extract(epoch from start_after) * 1000 as bigint) as "dueAt", ${STATE} as state
  from pgboss.job where state < 'completed'`

interface BossRow extends Pick<StoredJob, 'id' | 'kind' | 'key' | 'dueAt' | 'state'> {
  data: JobData
  /** The number of runs that ended. */
  runs: number
}

function toStoredJob({ data, runs, ...row }: BossRow): StoredJob {
  const begun = row.state === 'running' ? runs + 1 : runs
  return { ...row, payload: data.payload, attempts: begun - data.spared }
}

function toClaimedJob({ id, name, singletonKey, data, retryCount }: JobWithMetadata<JobData>): ClaimedJob {
  const { payload, max_attempts, spared } = data
  const attempt = retryCount + 1 - spared
  return { id, kind: name, key: singletonKey, payload, maxAttempts: max_attempts, attempt, lease: `${retryCount}` }
}

/** pg-boss counts how often a job was claimed, and ignores a command that names an earlier count. */
function runOf({ id, lease }: ClaimedJob): { id: string; retryCount: number } {
  return { id, retryCount: Number(lease) }
}

function changedOne(response: CommandResponse): boolean {
  // The declared type has no fields.
  return (response as { affected: number }).affected === 1
}

async function isWaiting(tx: Tx, kind: string, key: string): Promise<boolean> {
  // Two transactions that find no waiting job must not both insert one.
  await sql`select pg_advisory_xact_lock(hashtext(${kind}), hashtext(${key}))`.execute(tx)
  // The lock prevents the job from being claimed before this transaction ends, so that its run sees what was changed
  // here.
  const { rows } = await sql`
    select id from pgboss.job where name = ${kind} and singleton_key = ${key} and state < 'active'
    limit 1 for update`.execute(tx)
  return rows.length > 0
}
