// One run of one job: the handler, then its effect and the deletion of the job in one transaction.

import { inspect } from 'node:util'
import type { Commit } from '../commit.ts'
import { type ClaimedJob, type Engine, LEASE_SECONDS } from './engine.ts'
import { type Effect, type JobRun, PermanentError } from './queue.ts'
import { insertDeadJob } from './store.ts'
import type { QueueTables } from './tables.ts'

/** What the queue writes to the log. */
export interface QueueLog {
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export interface Runner {
  commit: Commit<QueueTables>
  engine: Engine
  log: QueueLog
  now: () => number
  isPaused: () => boolean
}

export interface JobHandler {
  maxAttempts: number
  handle(payload: string, run: JobRun): Promise<Effect>
}

/** `lost` means that another run has the job, so this one wrote nothing. */
type Outcome = 'done' | 'failed' | 'dead' | 'lost'

export interface Running {
  finished: Promise<Outcome>
  /** Aborts the run and makes its job available to others. */
  release(): Promise<void>
}

export function runJob(runner: Runner, job: ClaimedJob, handler: JobHandler): Running {
  const lost = new AbortController()
  return {
    finished: run(runner, job, handler, lost),
    async release() {
      lost.abort()
      await runner.engine.release(job)
    },
  }
}

async function run(runner: Runner, job: ClaimedJob, handler: JobHandler, lost: AbortController): Promise<Outcome> {
  try {
    return await attempt(runner, job, handler, lost)
  } catch (error) {
    // The database is probably unavailable. The lease expires, and then the job is claimed again.
    if (!lost.signal.aborted) runner.log.error({ ...logFields(job), err: error }, 'a job could not be completed')
    return 'lost'
  }
}

async function attempt(runner: Runner, job: ClaimedJob, handler: JobHandler, lost: AbortController): Promise<Outcome> {
  const maxAttempts = job.maxAttempts ?? handler.maxAttempts
  if (job.attempt > maxAttempts) {
    return moveToDeadLetters(
      runner,
      { ...job, attempt: job.attempt - 1 },
      new Error('its last run ended without a result'),
    )
  }
  try {
    const effect = await whileRenewing(runner, job, lost, () =>
      handler.handle(job.payload, {
        id: job.id,
        attempt: job.attempt,
        isLast: job.attempt >= maxAttempts,
        signal: lost.signal,
      }),
    )
    return await complete(runner, job, effect)
  } catch (error) {
    if (lost.signal.aborted) return logLost(runner, job)
    if (error instanceof PermanentError || job.attempt >= maxAttempts) return moveToDeadLetters(runner, job, error)
    runner.log.warn({ ...logFields(job), err: error }, 'a job failed and will be retried')
    return (await runner.engine.retryLater(job)) ? 'failed' : logLost(runner, job)
  }
}

/** Needed only around the handler: while the effect is written, its transaction holds the job. */
async function whileRenewing<T>(
  { engine, log }: Runner,
  job: ClaimedJob,
  lost: AbortController,
  work: () => Promise<T>,
): Promise<T> {
  const renew = async () => {
    try {
      if (!(await engine.renew(job))) lost.abort()
    } catch (error) {
      log.warn({ ...logFields(job), err: error }, 'the lease of a job could not be renewed')
    }
  }
  const timer = setInterval(() => void renew(), (LEASE_SECONDS / 3) * 1000).unref()
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

async function complete(runner: Runner, job: ClaimedJob, effect: Effect): Promise<Outcome> {
  const isDone = await runner.commit(async (tx) => {
    if (!(await runner.engine.remove(tx, job))) return false
    await effect(tx)
    return true
  })
  return isDone ? 'done' : logLost(runner, job)
}

async function moveToDeadLetters(runner: Runner, job: ClaimedJob, error: unknown): Promise<Outcome> {
  const { id, kind, key, payload, maxAttempts, attempt } = job
  const isMoved = await runner.commit(async (tx) => {
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
  if (!isMoved) return logLost(runner, job)
  runner.log.error({ ...logFields(job), err: error }, 'a job failed permanently')
  return 'dead'
}

function logLost({ log }: Runner, job: ClaimedJob): Outcome {
  log.warn(logFields(job), 'a run lost its job to another run')
  return 'lost'
}

function logFields({ id, kind, attempt }: ClaimedJob): { job: string; kind: string; attempt: number } {
  return { job: id, kind, attempt }
}

const MAX_ERROR_LENGTH = 2000

/** Text that both databases can store. */
function errorText(error: unknown): string {
  const text = error instanceof Error ? String(error) : inspect(error)
  return text.replaceAll('\0', '').slice(0, MAX_ERROR_LENGTH).toWellFormed()
}
