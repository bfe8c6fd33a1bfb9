import type { JobRun } from '@svc/database/queue/queue'
import { GatewayError, isGatewayError, NoAnswer } from '@svc/sdk/errors'
import type { Context } from '../../context.ts'
import { beginRun } from './begin-run.ts'
import { finishRun, type Run, RunStopped } from './run.ts'
import { findSubscriber, type Task } from './store.ts'

/** Waits most of a day for an unavailable gateway. */
export const TASK_ATTEMPTS = 30

/** Concurrent runs of one task per subscriber. A run without a slot becomes due again later. */
const MAX_RUNS = 4

export type Revoke = (delegationId: string) => Promise<void>

interface TaskJob {
  task: Task
  delegationId: string
  job: JobRun
}

/** The queue retries a failed attempt, which continues the run. After the last attempt the run has failed. */
export async function runTask(
  context: Context,
  revoke: Revoke,
  { task, delegationId, job }: TaskJob,
  work: (run: Run) => Promise<void>,
): Promise<void> {
  const identity = await findSubscriber(context.database.db, delegationId)
  if (identity === null) return
  await context.withSlot(`${task} ${identity}`, MAX_RUNS, async (isFree) => {
    const run = await beginRun(context, { task, delegationId, job, mayBegin: isFree })
    if (run) await carryOut(context, revoke, run, job, work)
  })
}

async function carryOut(
  context: Context,
  revoke: Revoke,
  run: Run,
  job: JobRun,
  work: (run: Run) => Promise<void>,
): Promise<void> {
  try {
    await work(run)
  } catch (error) {
    if (job.signal.aborted) throw error
    if (error instanceof RunStopped) return finishRun(context, run, 'stopped', { reason: error.reason })
    if (isGatewayError(error, 'SIGNATURE_INVALID', 'locker_not_found')) {
      await revoke(run.delegation_id)
      return finishRun(context, run, 'stopped', { reason: 'delegation_revoked' })
    }
    if (job.attempt < TASK_ATTEMPTS) throw error
    context.log.error({ run: run.run_id, err: error }, 'a run failed')
    return finishRun(context, run, 'failed', { reason: reasonOf(error) })
  }
  await finishRun(context, run, 'done')
}

/** The reason for the subscriber; details stay in the log of the service. */
function reasonOf(error: unknown): string {
  if (error instanceof NoAnswer) return 'gateway_unavailable'
  return error instanceof GatewayError ? error.code : 'internal_error'
}
