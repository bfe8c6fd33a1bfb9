import type { JobRun } from '@svc/queue/queue'
import { GatewayError, isGatewayError, NoAnswer } from '@svc/sdk/errors'
import type { Context } from '../../context.ts'
import { noteRevoked } from '../../delegations/note-revoked.ts'
import { findDelegation } from '../../delegations/store.ts'
import { beginRun } from './begin-run.ts'
import { finishRun, type Run, RunStopped } from './run.ts'
import type { Task } from './store.ts'

/** A gateway that is away for the better part of a day is waited for. */
export const TASK_ATTEMPTS = 30

/** Of one subscriber, whose sources may all hang. What finds no turn is found by the clock again. */
const AT_ONCE = 4

/** What fails is tried again by the queue, and goes on where it was; after the last attempt the run has failed. */
export async function runTask(
  context: Context,
  task: Task,
  delegationId: string,
  job: JobRun,
  work: (run: Run) => Promise<void>,
): Promise<void> {
  const delegation = await findDelegation(context.database.db, delegationId)
  if (!delegation) return
  await context.inTurn(`${task} ${delegation.identity}`, AT_ONCE, async (isFree) => {
    const run = await beginRun(context, { task, delegationId, job, mayBegin: isFree })
    if (run) await carryOut(context, run, job, work)
  })
}

async function carryOut(context: Context, run: Run, job: JobRun, work: (run: Run) => Promise<void>): Promise<void> {
  try {
    await work(run)
  } catch (error) {
    if (job.signal.aborted) throw error
    if (error instanceof RunStopped) return finishRun(context, run, 'stopped', { reason: error.reason })
    if (isGatewayError(error, 'SIGNATURE_INVALID', 'locker_not_found')) {
      await noteRevoked(context, run.delegation_id)
      return finishRun(context, run, 'stopped', { reason: 'delegation_revoked' })
    }
    if (job.attempt < TASK_ATTEMPTS) throw error
    context.log.error({ run: run.run_id, err: error }, 'a run failed')
    return finishRun(context, run, 'failed', { reason: reasonOf(error) })
  }
  await finishRun(context, run, 'done')
}

/** For the subscriber, whose business the rest of it is not. */
function reasonOf(error: unknown): string {
  if (error instanceof NoAnswer) return 'gateway_unavailable'
  return error instanceof GatewayError ? error.code : 'internal_error'
}
