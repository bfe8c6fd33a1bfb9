import type { JobRun } from '@svc/queue/queue'
import { GatewayError, isGatewayError, NoAnswer } from '@svc/sdk/errors'
import type { Context } from '../context.ts'
import { noteRevoked } from '../delegations/note-revoked.ts'
import { beginRun, finishRun, type Run, RunStopped } from './runs.ts'
import type { Task } from './store.ts'

/** A gateway that is away for the better part of a day is waited for. */
export const TASK_ATTEMPTS = 30

/** What fails is tried again by the queue, and goes on where it was; after the last attempt the run has failed. */
export async function runTask(
  context: Context,
  task: Task,
  delegationId: string,
  job: JobRun,
  work: (run: Run) => Promise<void>,
): Promise<void> {
  const run = await beginRun(context, task, delegationId, job)
  if (!run) return
  try {
    await work(run)
  } catch (error) {
    if (job.signal.aborted) throw error
    if (error instanceof RunStopped) return finishRun(context, run, 'stopped', { reason: error.reason })
    if (isGatewayError(error, 'SIGNATURE_INVALID', 'locker_not_found')) {
      await noteRevoked(context, delegationId)
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
