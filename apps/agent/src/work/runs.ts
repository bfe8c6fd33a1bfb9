// One run of a task: begun or taken up again, carried on step by step while there is ground for it, ended once.

import { DEFAULT_HOURS, type Tasks } from '@svc/api/agent/tasks'
import type { JobRun } from '@svc/queue/queue'
import type { Client } from '@svc/sdk/client'
import type { Locker } from '@svc/sdk/lockers/locker'
import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../context.ts'
import type { Db, Schema } from '../db/schema.ts'
import { isRunning } from '../subscriptions/subscription-view.ts'
import { addFindings, type News } from './add-findings.ts'
import {
  endRun,
  findRun,
  findRunUnderWay,
  findSummary,
  insertRun,
  lockWorkplace,
  type RunRow,
  setNextRun,
  setSummary,
  type Task,
  type Workplace,
} from './store.ts'

/** What was done, in numbers and words. */
export type Summary = { [what: string]: number | string | null }

export interface Run extends Pick<RunRow, 'run_id' | 'delegation_id' | 'task' | 'started_at'> {
  /** As it was written last. */
  summary: Summary
  locker: Locker
  /** Acts at the gateway with the key of the delegation. */
  client: Client
  signal: AbortSignal
}

type StopReason = 'subscription_expired' | 'delegation_revoked' | 'delegation_ended' | 'task_removed'

/** There is no ground to go on. */
export class RunStopped extends Error {
  override name = 'RunStopped'
  readonly reason: StopReason

  constructor(reason: StopReason) {
    super(reason)
    this.reason = reason
  }
}

/** The job of a run brings it to its end well within this time, unless the job was lost. */
export const LONGEST_RUN_SECONDS = 2 * 86_400

/** The run of this job, new or taken up again; null where there is nothing to do for it. */
export async function beginRun(context: Context, task: Task, delegationId: string, job: JobRun): Promise<Run | null> {
  const begun = await context.database.db.transaction().execute(async (tx) => {
    const workplace = await lockWorkplace(tx, delegationId)
    const row = await findOrInsert(context, tx, task, workplace, job)
    return row?.finished_at === null ? { row, workplace } : null
  })
  if (!begun) return null
  const { row, workplace } = begun
  const { run_id, delegation_id, started_at } = row
  const locker = { locker_id: workplace.locker_id, receipt_id: workplace.receipt_id }
  const client = context.gateway.client(context.delegationKeys.signerOf(delegation_id))
  const summary = JSON.parse(row.summary)
  return { run_id, delegation_id, task, started_at, summary, locker, client, signal: job.signal }
}

/** A run belongs to the job that began it: two that come at once do not both do it. */
async function findOrInsert(
  context: Context,
  db: Db,
  task: Task,
  workplace: Workplace,
  job: JobRun,
): Promise<RunRow | null> {
  const { delegation_id } = workplace
  const now = unixNow(context)
  const run_id = `run_${job.id.replaceAll('-', '')}`
  const own = await findRun(db, run_id)
  if (own) return own
  const other = await findRunUnderWay(db, delegation_id, task)
  if (other) return other.started_at < now - LONGEST_RUN_SECONDS ? other : null
  if (!isDue(context, workplace, task)) return null
  const started = { started_at: now, finished_at: null, outcome: 'running', summary: '{}' } as const
  const run = { run_id, delegation_id, task, ...started }
  await insertRun(db, run)
  return run
}

function isDue(context: Context, workplace: Workplace, task: Task): boolean {
  const dueAt = task === 'mirror' ? workplace.mirror_at : workplace.watch_at
  const isPossible = workplace.state === 'active' && isRunning(context, workplace)
  return isPossible && dueAt !== null && dueAt <= unixNow(context)
}

/**
 * What the subscriber wants as of now, and the summary as it is by now. Throws `RunStopped` where there is no ground to
 * go on.
 */
export async function requireGround(context: Context, db: Db, run: Run): Promise<Tasks> {
  run.signal.throwIfAborted()
  const workplace = await lockWorkplace(db, run.delegation_id)
  const tasks = JSON.parse(workplace.tasks) as Tasks
  if (workplace.state === 'ended') throw new RunStopped('delegation_ended')
  if (workplace.state !== 'active') throw new RunStopped('delegation_revoked')
  if (!isRunning(context, workplace)) throw new RunStopped('subscription_expired')
  if (!tasks[run.task]) throw new RunStopped('task_removed')
  const summary = await findSummary(db, run.run_id)
  if (summary === null) throw new Error('another has ended this run')
  run.summary = JSON.parse(summary)
  return tasks
}

/** What a step has come to. */
export interface Outcome {
  news?: readonly News[]
  /** Changes of the summary. */
  summary: Summary
}

/**
 * What a step has done and found is written together, or not at all, and only while there is ground for it. Another
 * process may do the same run, for a while: what it has written is seen by `write`, which is not to find it again.
 */
export async function noteStep(
  context: Context,
  run: Run,
  write: (tx: Transaction<Schema>) => Promise<Outcome>,
): Promise<void> {
  await context.database.db.transaction().execute(async (tx) => {
    await requireGround(context, tx, run)
    const { summary, news = [] } = await write(tx)
    run.summary = { ...run.summary, ...summary }
    await setSummary(tx, run.run_id, JSON.stringify(run.summary))
    await addFindings(context, tx, run.delegation_id, news)
  })
}

/** A number of the summary with so many more. */
export function counted({ summary }: Run, what: string, more: number): Summary {
  return { [what]: Number(summary[what] ?? 0) + more }
}

/** The next one is due so long after this one began. One that was stopped is due still, should there be ground again. */
export async function finishRun(
  context: Context,
  run: Run,
  outcome: 'done' | 'failed' | 'stopped',
  more: Summary = {},
): Promise<void> {
  await context.database.db.transaction().execute(async (tx) => {
    const workplace = await lockWorkplace(tx, run.delegation_id)
    const summary = JSON.stringify({ ...run.summary, ...more })
    const isEnded = await endRun(tx, { run_id: run.run_id, finished_at: unixNow(context), outcome, summary })
    const task = (JSON.parse(workplace.tasks) as Tasks)[run.task]
    if (!isEnded || outcome === 'stopped' || workplace.state !== 'active' || !task) return
    const period = (task.every_hours ?? DEFAULT_HOURS) * 3600
    await setNextRun(tx, run.delegation_id, run.task, run.started_at + period)
  })
}
