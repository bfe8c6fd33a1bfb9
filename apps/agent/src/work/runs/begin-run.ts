// Decides when a run is due, and begins or continues it.

import type { JobRun } from '@svc/database/queue/queue'
import { type Context, unixNow } from '../../context.ts'
import type { Tx } from '../../db/schema.ts'
import { isActive } from '../../subscriptions/subscription-view.ts'
import type { Run } from './run.ts'
import {
  findDue,
  findDueChecks,
  findRun,
  findUnfinishedRun,
  insertRun,
  lockSubscribed,
  type RunRow,
  type SubscribedDelegation,
  type Task,
} from './store.ts'

/** A job finishes its run well within this time, unless the job was lost. */
const MAX_RUN_SECONDS = 2 * 86_400
/** The longest period that owners can request, with a margin. */
const MAX_PERIOD_SECONDS = 31 * 86_400

/** Enqueues the jobs that are due; the queue stores one waiting job per delegation. */
export async function enqueueDueWork(context: Context): Promise<void> {
  const { db } = context.database
  const now = unixNow(context)
  const due = { now, farAhead: now + MAX_PERIOD_SECONDS }
  const current = { from: now - MAX_RUN_SECONDS, to: now + MAX_RUN_SECONDS }
  await enqueue(context, 'check-registration', await findDueChecks(db, due))
  for (const task of ['mirror', 'watch'] as const) await enqueue(context, task, await findDue(db, task, due, current))
}

async function enqueue(
  { database, queue }: Context,
  kind: 'check-registration' | 'mirror' | 'watch',
  delegationIds: readonly string[],
): Promise<void> {
  if (delegationIds.length === 0) return
  await database.commit(async (tx) => {
    for (const delegation_id of delegationIds) await queue.enqueue(tx, kind, { delegation_id }, { key: delegation_id })
  })
}

interface Beginning {
  task: Task
  delegationId: string
  job: JobRun
  /** When false, only an existing run is continued. */
  mayBegin: boolean
}

/** The run of this job, new or continued; null when the job has nothing to do. */
export async function beginRun(context: Context, beginning: Beginning): Promise<Run | null> {
  const { task, delegationId, job } = beginning
  const begun = await context.database.commit(async (tx) => {
    const delegation = await lockSubscribed(tx, delegationId)
    const row = await findOrInsert(context, tx, delegation, beginning)
    return row?.finished_at === null ? { row, delegation } : null
  })
  if (!begun) return null
  const { row, delegation } = begun
  const { run_id, delegation_id, started_at } = row
  return {
    run_id,
    delegation_id,
    task,
    started_at,
    summary: JSON.parse(row.summary),
    found: JSON.parse(row.found),
    locker: { locker_id: delegation.locker_id, receipt_id: delegation.receipt_id },
    client: context.gateway.client(context.delegationKeys.signerOf(delegation_id)),
    attempt: job.attempt,
    signal: job.signal,
  }
}

/** A run belongs to the job that began it, so that two concurrent jobs do not both perform it. */
async function findOrInsert(
  context: Context,
  tx: Tx,
  delegation: SubscribedDelegation,
  { task, job, mayBegin }: Beginning,
): Promise<RunRow | null> {
  const { delegation_id } = delegation
  const now = unixNow(context)
  const run_id = `run_${job.id.replaceAll('-', '')}`
  const own = await findRun(tx, run_id)
  if (own) return own
  const other = await findUnfinishedRun(tx, delegation_id, task)
  if (other) return isLost(other, now) ? other : null
  if (!mayBegin || !isDue(context, delegation, task)) return null
  const started = { started_at: now, finished_at: null, outcome: 'running', summary: '{}', found: '{}' } as const
  const run = { run_id, delegation_id, task, ...started }
  await insertRun(tx, run)
  return run
}

/** Includes runs that a wrong clock dated far in the future: their jobs may wait just as long. */
function isLost({ started_at }: RunRow, now: number): boolean {
  return started_at < now - MAX_RUN_SECONDS || started_at > now + MAX_RUN_SECONDS
}

function isDue(context: Context, delegation: SubscribedDelegation, task: Task): boolean {
  const dueAt = task === 'mirror' ? delegation.mirror_at : delegation.watch_at
  const isPossible = delegation.state === 'active' && isActive(context, delegation)
  return isPossible && dueAt !== null && isPast(dueAt, unixNow(context))
}

/** A due time further ahead than any period was set by a wrong clock. */
function isPast(dueAt: number, now: number): boolean {
  return dueAt <= now || dueAt > now + MAX_PERIOD_SECONDS
}
