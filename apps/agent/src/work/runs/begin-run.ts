import type { JobRun } from '@svc/queue/queue'
import { type Context, unixNow } from '../../context.ts'
import type { Db } from '../../db/schema.ts'
import { isRunning } from '../../subscriptions/subscription-view.ts'
import type { Run } from './run.ts'
import { findRun, findRunUnderWay, insertRun, lockWorkplace, type RunRow, type Task, type Workplace } from './store.ts'

/** The job of a run brings it to its end well within this time, unless the job was lost. */
export const LONGEST_RUN_SECONDS = 2 * 86_400
/** What can be asked for, and something to spare. */
export const LONGEST_PERIOD_SECONDS = 31 * 86_400

interface Beginning {
  task: Task
  delegationId: string
  job: JobRun
  /** Where false, only a run that has begun is taken up. */
  mayBegin: boolean
}

/** The run of this job, new or taken up again; null where there is nothing to do for it. */
export async function beginRun(context: Context, beginning: Beginning): Promise<Run | null> {
  const { task, delegationId, job } = beginning
  const begun = await context.database.db.transaction().execute(async (tx) => {
    const workplace = await lockWorkplace(tx, delegationId)
    const row = await findOrInsert(context, tx, workplace, beginning)
    return row?.finished_at === null ? { row, workplace } : null
  })
  if (!begun) return null
  const { row, workplace } = begun
  const { run_id, delegation_id, started_at } = row
  const locker = { locker_id: workplace.locker_id, receipt_id: workplace.receipt_id }
  const client = context.gateway.client(context.delegationKeys.signerOf(delegation_id))
  const progress = { summary: JSON.parse(row.summary), found: JSON.parse(row.found) }
  return {
    run_id,
    delegation_id,
    task,
    started_at,
    ...progress,
    locker,
    client,
    attempt: job.attempt,
    signal: job.signal,
  }
}

/** A run belongs to the job that began it: two that come at once do not both do it. */
async function findOrInsert(
  context: Context,
  db: Db,
  workplace: Workplace,
  { task, job, mayBegin }: Beginning,
): Promise<RunRow | null> {
  const { delegation_id } = workplace
  const now = unixNow(context)
  const run_id = `run_${job.id.replaceAll('-', '')}`
  const own = await findRun(db, run_id)
  if (own) return own
  const other = await findRunUnderWay(db, delegation_id, task)
  if (other) return isLost(other, now) ? other : null
  if (!mayBegin || !isDue(context, workplace, task)) return null
  const started = { started_at: now, finished_at: null, outcome: 'running', summary: '{}', found: '{}' } as const
  const run = { run_id, delegation_id, task, ...started }
  await insertRun(db, run)
  return run
}

/** Also one that began later than now: by a clock that was wrong, whose job may wait as long. */
function isLost({ started_at }: RunRow, now: number): boolean {
  return started_at < now - LONGEST_RUN_SECONDS || started_at > now + LONGEST_RUN_SECONDS
}

function isDue(context: Context, workplace: Workplace, task: Task): boolean {
  const dueAt = task === 'mirror' ? workplace.mirror_at : workplace.watch_at
  const isPossible = workplace.state === 'active' && isRunning(context, workplace)
  return isPossible && dueAt !== null && isPast(dueAt, unixNow(context))
}

/** What is due later than any period allows was put there by a clock that was wrong. */
function isPast(dueAt: number, now: number): boolean {
  return dueAt <= now || dueAt > now + LONGEST_PERIOD_SECONDS
}
