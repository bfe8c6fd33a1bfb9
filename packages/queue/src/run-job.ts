// One run of one job: the handler, then its effect and the end of the job in one transaction.

import { inspect } from 'node:util'
import type { Kysely } from 'kysely'
import { type Engine, LEASE_SECONDS, type TakenJob } from './engine.ts'
import { type Effect, type JobRun, PermanentError } from './queue.ts'
import { insertDeadJob } from './store.ts'
import type { QueueTables } from './tables.ts'

/** What the queue writes to the log. */
export interface QueueLog {
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export interface Runner {
  db: Kysely<QueueTables>
  engine: Engine
  log: QueueLog
  now: () => number
}

export interface Work {
  maxAttempts: number
  handle(payload: string, run: JobRun): Promise<Effect>
}

/** Lost: the job is no longer this run's, so that nothing was written. */
type Outcome = 'done' | 'failed' | 'dead' | 'lost'

export interface Running {
  finished: Promise<Outcome>
  /** Ends the run where it stands. */
  giveBack(): Promise<void>
}

export function runJob(runner: Runner, job: TakenJob, work: Work): Running {
  const lost = new AbortController()
  return {
    finished: run(runner, job, work, lost),
    async giveBack() {
      lost.abort()
      await runner.engine.giveBack(job)
    },
  }
}

async function run(runner: Runner, job: TakenJob, work: Work, lost: AbortController): Promise<Outcome> {
  try {
    return await attempt(runner, job, work, lost)
  } catch (error) {
    // Most likely the database is away. The lease ends by itself, and then the job is taken again.
    if (!lost.signal.aborted) runner.log.error({ ...naming(job), err: error }, 'a job could not be ended')
    return 'lost'
  }
}

async function attempt(runner: Runner, job: TakenJob, work: Work, lost: AbortController): Promise<Outcome> {
  const maxAttempts = job.maxAttempts ?? work.maxAttempts
  if (job.attempt > maxAttempts) {
    return bury(runner, { ...job, attempt: job.attempt - 1 }, new Error('its last run ended without an answer'))
  }
  try {
    const effect = await whileRenewing(runner, job, lost, () =>
      work.handle(job.payload, { id: job.id, attempt: job.attempt, signal: lost.signal }),
    )
    return await conclude(runner, job, effect)
  } catch (error) {
    if (lost.signal.aborted) return refuse(runner, job)
    if (error instanceof PermanentError || job.attempt >= maxAttempts) return bury(runner, job, error)
    runner.log.warn({ ...naming(job), err: error }, 'a job failed; it is tried again')
    return (await runner.engine.tryLater(job)) ? 'failed' : refuse(runner, job)
  }
}

/** Not while the effect is written: its transaction holds the job. */
async function whileRenewing<T>(
  { engine, log }: Runner,
  job: TakenJob,
  lost: AbortController,
  work: () => Promise<T>,
): Promise<T> {
  const renew = async () => {
    try {
      if (!(await engine.renew(job))) lost.abort()
    } catch (error) {
      log.warn({ ...naming(job), err: error }, 'the lease of a job could not be renewed')
    }
  }
  const timer = setInterval(() => void renew(), (LEASE_SECONDS / 3) * 1000).unref()
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

async function conclude(runner: Runner, job: TakenJob, effect: Effect): Promise<Outcome> {
  const isDone = await runner.db.transaction().execute(async (tx) => {
    if (!(await runner.engine.remove(tx, job))) return false
    await effect(tx)
    return true
  })
  return isDone ? 'done' : refuse(runner, job)
}

async function bury(runner: Runner, job: TakenJob, error: unknown): Promise<Outcome> {
  const { id, kind, key, payload, maxAttempts, attempt } = job
  const isBuried = await runner.db.transaction().execute(async (tx) => {
    if (!(await runner.engine.remove(tx, job))) return false
    await insertDeadJob(tx, {
      id,
      kind,
      key,
      payload,
      max_attempts: maxAttempts,
      attempts: attempt,
      error: errorText(error),
      failed_at: new Date(runner.now()).toISOString(),
    })
    return true
  })
  if (!isBuried) return refuse(runner, job)
  runner.log.error({ ...naming(job), err: error }, 'a job failed for good')
  return 'dead'
}

function refuse({ log }: Runner, job: TakenJob): Outcome {
  log.warn(naming(job), 'a run came too late; its job is, or was, taken by another')
  return 'lost'
}

function naming({ id, kind, attempt }: TakenJob): { job: string; kind: string; attempt: number } {
  return { job: id, kind, attempt }
}

const LONGEST_ERROR = 2000

/** As both databases can keep it. */
function errorText(error: unknown): string {
  const text = error instanceof Error ? String(error) : inspect(error)
  return text.replaceAll('\0', '').slice(0, LONGEST_ERROR).toWellFormed()
}
