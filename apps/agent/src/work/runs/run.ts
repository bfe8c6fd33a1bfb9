// One run of a task: each step is recorded while the run may continue, and the run is finished once.

import { DEFAULT_HOURS, type Tasks } from '@svc/api/agent/tasks'
import type { Client, Locker } from '@svc/sdk'
import { type Context, unixNow } from '../../context.ts'
import type { Db, Tx } from '../../db/schema.ts'
import { isActive } from '../../subscriptions/subscription-view.ts'
import { addFindings, type NewFinding } from '../findings/add-findings.ts'
import { type FindingCounts, limitFindings, overflowFindings } from '../findings/finding-limits.ts'
import {
  deleteOldRuns,
  findProgress,
  findSubscribed,
  lockSubscribed,
  type RunRow,
  setFinished,
  setNextRun,
  setProgress,
} from './store.ts'

/** The results of the run, in numbers and words. */
export type Summary = { [what: string]: number | string | null }

export interface Run extends Pick<RunRow, 'run_id' | 'delegation_id' | 'task' | 'started_at'> {
  /** As last written. */
  summary: Summary
  found: FindingCounts
  locker: Locker
  /** Signs with the key of the delegation. */
  client: Client
  /** The attempt of its job, 1 for the first. */
  attempt: number
  signal: AbortSignal
}

type StopReason = 'subscription_expired' | 'delegation_revoked' | 'delegation_ended' | 'task_removed'

/** The run may not continue. */
export class RunStopped extends Error {
  override name = 'RunStopped'
  readonly reason: StopReason

  constructor(reason: StopReason) {
    super(reason)
    this.reason = reason
  }
}

/** The owner's current tasks. Refreshes the progress of the run; throws `RunStopped` when it may not continue. */
export async function requireCurrentTasks(context: Context, db: Db, run: Run): Promise<Tasks> {
  run.signal.throwIfAborted()
  const delegation = await findSubscribed(db, run.delegation_id)
  const tasks = JSON.parse(delegation.tasks) as Tasks
  if (delegation.state === 'ended') throw new RunStopped('delegation_ended')
  if (delegation.state !== 'active') throw new RunStopped('delegation_revoked')
  if (!isActive(context, delegation)) throw new RunStopped('subscription_expired')
  if (!tasks[run.task]) throw new RunStopped('task_removed')
  if (!(await readProgress(db, run))) throw new Error('another process has finished this run')
  return tasks
}

/** False when the run is finished. */
async function readProgress(db: Db, run: Run): Promise<boolean> {
  const progress = await findProgress(db, run.run_id)
  if (!progress) return false
  run.summary = JSON.parse(progress.summary)
  run.found = JSON.parse(progress.found)
  return true
}

export interface StepResult {
  findings?: readonly NewFinding[]
  /** Changes to the summary. */
  summary: Summary
}

/**
 * Records the results of a step in one transaction, and only while the run may continue. Another process may work on
 * the same run for a while: `write` sees its results and must not report them again.
 */
export async function recordStep(context: Context, run: Run, write: (tx: Tx) => Promise<StepResult>): Promise<void> {
  await context.database.commit(async (tx) => {
    await lockSubscribed(tx, run.delegation_id)
    await requireCurrentTasks(context, tx, run)
    const { summary, findings = [] } = await write(tx)
    const { listed, found } = limitFindings(run.found, findings)
    run.summary = { ...run.summary, ...summary }
    run.found = found
    await setProgress(tx, run.run_id, { summary: JSON.stringify(run.summary), found: JSON.stringify(found) })
    await addFindings(context, tx, run.delegation_id, listed)
  })
}

/** The summary field `what`, increased by `more`. */
export function counted({ summary }: Run, what: string, more: number): Summary {
  return { [what]: Number(summary[what] ?? 0) + more }
}

/** Per task; more than are listed, and more than the watch compares. */
const MAX_RUNS = 100

/** The next run is due one period after this one began. A stopped run stays due, in case it may continue later. */
export async function finishRun(
  context: Context,
  run: Run,
  outcome: 'done' | 'failed' | 'stopped',
  more: Summary = {},
): Promise<void> {
  const { run_id, delegation_id } = run
  await context.database.commit(async (tx) => {
    const delegation = await lockSubscribed(tx, delegation_id)
    if (!(await readProgress(tx, run))) return
    const summary = JSON.stringify({ ...run.summary, ...more })
    const now = unixNow(context)
    await setFinished(tx, { run_id, finished_at: now, outcome, summary })
    await deleteOldRuns(tx, delegation_id, run.task, MAX_RUNS)
    const task = (JSON.parse(delegation.tasks) as Tasks)[run.task]
    if (outcome !== 'stopped' && delegation.state === 'active' && task) {
      const period = (task.every_hours ?? DEFAULT_HOURS) * 3600
      await setNextRun(tx, delegation_id, run.task, Math.min(run.started_at, now) + period)
    }
    await addFindings(context, tx, delegation_id, overflowFindings(run.found))
  })
}
