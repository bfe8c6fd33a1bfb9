// Jobs in pg-boss, which has a schema and connections of its own. What must happen together with something else goes
// through the transaction it is given. Two things pg-boss does not do, and its table is read for them: to hold a job
// that waits, and to count jobs as they are now.

import { type Kysely, sql } from 'kysely'
import { type CommandResponse, fromKysely, type JobWithMetadata, PgBoss, type SendOptions } from 'pg-boss'
import {
  type Engine,
  FIRST_RETRY_SECONDS,
  LEASE_SECONDS,
  LONGEST_RETRY_SECONDS,
  type StateCount,
  type TakenJob,
} from './engine.ts'
import { addKeyIndex, injectTime } from './pg-boss-schema.ts'
import type { Tx } from './queue.ts'
import type { QueueLog } from './run-job.ts'
import type { QueueTables } from './tables.ts'

export interface BossEngineOptions {
  db: Kysely<QueueTables>
  databaseUrl: string
  log: QueueLog
  now: () => number
}

interface JobData {
  /** JSON as text: pg-boss keeps `jsonb`, which has no place for some of what JSON can say. */
  payload: string
  max_attempts: number | null
  /** Runs that do not count, since they were given back. */
  spared: number
}

const CHANNEL = 'svc_queue'
const CONNECTIONS = 4
/** How soon a lease that has ended is seen. */
const WATCH_SECONDS = 15
const FOR_EVER = 2_000_000_000

/** How often to try, and what becomes of a job then, is decided by who runs it: pg-boss is never to give up. */
const JOB_OPTIONS: SendOptions = {
  retryLimit: FOR_EVER,
  retryBackoff: true,
  retryDelay: FIRST_RETRY_SECONDS,
  retryDelayMax: LONGEST_RETRY_SECONDS,
  retentionSeconds: FOR_EVER,
  heartbeatSeconds: LEASE_SECONDS,
  // The longest it allows.
  expireInSeconds: 24 * 3600,
}

export async function openBossEngine({ db, databaseUrl, log, now }: BossEngineOptions): Promise<Engine> {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    max: CONNECTIONS,
    schedule: false,
    superviseIntervalSeconds: WATCH_SECONDS,
    monitorIntervalSeconds: WATCH_SECONDS,
  })
  boss.on('error', (error) => log.error({ err: error }, 'pg-boss reports an error'))
  boss.on('warning', (warning) => log.warn({ warning }, 'pg-boss reports a warning'))
  const tellTime = await startBoss(boss, now)
  const ready = new Map<string, Promise<void>>()
  let listener: { close(): Promise<void> } | undefined

  /** pg-boss has a queue for each kind, which must be there first. */
  async function prepare(kind: string): Promise<void> {
    if (!ready.has(kind)) ready.set(kind, boss.createQueue(kind))
    try {
      await ready.get(kind)
    } catch (error) {
      ready.delete(kind)
      throw error
    }
    await tellTime()
  }

  return {
    async insert(tx, { id, kind, key, payload, maxAttempts, delaySeconds }) {
      await prepare(kind)
      if (delaySeconds === 0) await sql`select pg_notify(${CHANNEL}, ${kind})`.execute(tx)
      if (key !== null && (await isWaiting(tx, kind, key))) return false
      const data: JobData = { payload, max_attempts: maxAttempts, spared: 0 }
      const options = { ...JOB_OPTIONS, id, startAfter: delaySeconds, ...(key !== null && { singletonKey: key }) }
      const sent = await boss.send(kind, data, { ...options, db: fromKysely(tx) })
      if (sent === null) throw new Error(`there is a job ${id} already`)
      return true
    },

    async take(kind, limit) {
      await prepare(kind)
      const jobs = await boss.fetch<JobData>(kind, { batchSize: limit, includeMetadata: true })
      return jobs.map(toTakenJob)
    },

    async renew(job) {
      await tellTime()
      return happened(await boss.touch(job.kind, runOf(job)))
    },

    async remove(tx, job) {
      return happened(await boss.deleteJob(job.kind, runOf(job), { db: fromKysely(tx) }))
    },

    async tryLater(job) {
      await tellTime()
      return happened(await boss.fail(job.kind, runOf(job)))
    },

    async giveBack(job) {
      const { id, kind, payload, maxAttempts } = job
      await db.transaction().execute(async (tx) => {
        const within = { db: fromKysely(tx) }
        if (!happened(await boss.cancel(kind, runOf(job), within))) return
        await boss.resume(kind, id, within)
        const spared = runOf(job).retryCount + 1 - job.attempt
        const data: JobData = { payload, max_attempts: maxAttempts, spared: spared + 1 }
        await boss.update(kind, data, { id, ...within })
      })
    },

    async expireLeases() {
      await tellTime()
      await boss.supervise()
    },

    async counts() {
      await tellTime()
      const { rows } = await sql<StateCount>`
        select name as kind, count(*) as count, case when state = 'active' then 'running'
          when start_after <= pgboss.job_now() then 'waiting' else 'delayed' end as state
        from pgboss.job where state < 'completed' group by 1, 3`.execute(db)
      return rows
    },

    async listen(wake) {
      try {
        listener = await boss.getDb().listen?.(CHANNEL, wake, () => {})
      } catch (error) {
        log.warn({ err: error }, 'no notice of new jobs is to be had; they are found by looking')
      }
    },

    async close() {
      await listener?.close()
      await boss.stop({ graceful: false })
    },
  }
}

/** Answers how to tell it the time. */
async function startBoss(boss: PgBoss, now: () => number): Promise<() => Promise<void>> {
  try {
    await boss.start()
    await addKeyIndex(boss)
    return await injectTime(boss, now)
  } catch (error) {
    // Else its timers and connections would keep the process from ending.
    await boss.stop({ graceful: false })
    throw error
  }
}

function toTakenJob({ id, name, singletonKey, data, retryCount }: JobWithMetadata<JobData>): TakenJob {
  const { payload, max_attempts, spared } = data
  const attempt = retryCount + 1 - spared
  return { id, kind: name, key: singletonKey, payload, maxAttempts: max_attempts, attempt, lease: `${retryCount}` }
}

/** pg-boss counts how often a job was taken, and does nothing for who names an earlier count. */
function runOf({ id, lease }: TakenJob): { id: string; retryCount: number } {
  return { id, retryCount: Number(lease) }
}

function happened(response: CommandResponse): boolean {
  // Its type says nothing of what is in it.
  return (response as { affected: number }).affected === 1
}

async function isWaiting(tx: Tx, kind: string, key: string): Promise<boolean> {
  // Two who find none waiting must not both insert.
  await sql`select pg_advisory_xact_lock(hashtext(${kind}), hashtext(${key}))`.execute(tx)
  // Locked, it is not taken before this transaction ends, so that its run sees what this transaction did.
  const { rows } = await sql`
    select id from pgboss.job where name = ${kind} and singleton_key = ${key} and state < 'active'
    limit 1 for update`.execute(tx)
  return rows.length > 0
}
