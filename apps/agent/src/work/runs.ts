// One run of a task: carried on step by step while there is ground for it, ended once. How it begins: begin-run.ts.

import { DEFAULT_HOURS, type Tasks } from '@svc/api/agent/tasks'
import type { Client, Locker } from '@svc/sdk'
import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../context.ts'
import type { Db, Schema } from '../db/schema.ts'
import { isRunning } from '../subscriptions/subscription-view.ts'
import { addFindings, type News } from './add-findings.ts'
import { type Found, listFew, unlistedNews } from './few-findings.ts'
import { endRun, findProgress, forgetRuns, lockWorkplace, type RunRow, setNextRun, setProgress } from './store.ts'

/** What was done, in numbers and words. */
export type Summary = { [what: string]: number | string | null }

export interface Run extends Pick<RunRow, 'run_id' | 'delegation_id' | 'task' | 'started_at'> {
  /** As they were written last. */
  summary: Summary
  found: Found
  locker: Locker
  /** Acts at the gateway with the key of the delegation. */
  client: Client
  /** Which attempt of its job this is, 1 for the first. */
  attempt: number
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

/**
 * What the subscriber wants as of now, and how far the run is by now. Throws `RunStopped` where there is no ground to
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
  if (!(await readProgress(db, run))) throw new Error('another has ended this run')
  return tasks
}

/** False where the run is over. */
async function readProgress(db: Db, run: Run): Promise<boolean> {
  const progress = await findProgress(db, run.run_id)
  if (!progress) return false
  run.summary = JSON.parse(progress.summary)
  run.found = JSON.parse(progress.found)
  return true
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
    const { listed, found } = listFew(run.found, news)
    run.summary = { ...run.summary, ...summary }
    run.found = found
    await setProgress(tx, run.run_id, { summary: JSON.stringify(run.summary), found: JSON.stringify(found) })
    await addFindings(context, tx, run.delegation_id, listed)
  })
}

/** A number of the summary with so many more. */
export function counted({ summary }: Run, what: string, more: number): Summary {
  return { [what]: Number(summary[what] ?? 0) + more }
}

/** Of each task; more than are shown, and than the watch looks at. */
const RUNS_KEPT = 100

/** The next one is due so long after this one began. One that was stopped is due still, should there be ground again. */
export async function finishRun(
  context: Context,
  run: Run,
  outcome: 'done' | 'failed' | 'stopped',
  more: Summary = {},
): Promise<void> {
  const { run_id, delegation_id } = run
  await context.database.db.transaction().execute(async (tx) => {
    const workplace = await lockWorkplace(tx, delegation_id)
    if (!(await readProgress(tx, run))) return
    const summary = JSON.stringify({ ...run.summary, ...more })
    const now = unixNow(context)
    await endRun(tx, { run_id, finished_at: now, outcome, summary })
    await forgetRuns(tx, delegation_id, run.task, RUNS_KEPT)
    const task = (JSON.parse(workplace.tasks) as Tasks)[run.task]
    if (outcome !== 'stopped' && workplace.state === 'active' && task) {
      const period = (task.every_hours ?? DEFAULT_HOURS) * 3600
      await setNextRun(tx, delegation_id, run.task, Math.min(run.started_at, now) + period)
    }
    await addFindings(context, tx, delegation_id, unlistedNews(run.found))
  })
}
