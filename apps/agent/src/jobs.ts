// The jobs of the service: the handler of each kind, and the periodic ones.

import type { JobRun, Queue } from '@svc/database/queue/queue'
import { forgetNonces } from '@svc/service/guard/nonces'
import { type Context, type JobPayloads, unixNow } from './context.ts'
import { CHECK_ATTEMPTS } from './delegations/check-registration.ts'
import type { Delegations } from './delegations/delegations.ts'
import { deleteOldData } from './delete-old-data.ts'
import { WEBHOOK_ATTEMPTS } from './work/findings/deliver-webhook.ts'
import { TASK_ATTEMPTS } from './work/runs/run-task.ts'
import type { Work } from './work/work.ts'

interface Modules {
  delegations: Delegations
  work: Work
}

type HandleOptions = Parameters<Queue<JobPayloads>['handle']>[1]

/** Call once. From then on, every process with workers runs due jobs. */
export function registerJobs(context: Context, { delegations, work }: Modules): void {
  const { queue, rateLimiter, database } = context
  // Several times as many of each kind as one subscriber may run: jobs that only wait cost little.
  const checking: HandleOptions = { concurrency: 4, maxAttempts: CHECK_ATTEMPTS }
  const mirroring: HandleOptions = { concurrency: 16, maxAttempts: TASK_ATTEMPTS }
  const watching: HandleOptions = { concurrency: 12, maxAttempts: TASK_ATTEMPTS }
  const delivering: HandleOptions = { concurrency: 100, maxAttempts: WEBHOOK_ATTEMPTS }

  handle('check-registration', checking, ({ delegation_id }, run) => delegations.runCheck(delegation_id, run))
  handle('mirror', mirroring, ({ delegation_id }, run) => work.mirror(delegation_id, run))
  handle('watch', watching, ({ delegation_id }, run) => work.watch(delegation_id, run))
  handle('tell', delivering, ({ delivery_id }, run) => work.deliverWebhook(delivery_id, run))
  every(60, 'due-work', () => work.enqueueDue())
  every(60, 'forget-nonces', () => database.commit((tx) => forgetNonces(tx, unixNow(context))))
  every(300, 'forget-rate-limits', () => rateLimiter.forget())
  every(3600, 'forget-old', (run) => deleteOldData(context, run.signal))

  /** Each of these jobs may be interrupted and restarted: it records its own progress and repeats nothing. */
  function handle<Kind extends keyof JobPayloads>(
    kind: Kind,
    options: HandleOptions,
    work: (payload: JobPayloads[Kind], run: JobRun) => Promise<unknown>,
  ): void {
    queue.handle(kind, options, async (payload, run) => {
      await work(payload, run)
      return async () => {}
    })
  }

  /** A failure is retried for some minutes; then the next periodic run is near. */
  function every(seconds: number, kind: keyof JobPayloads, work: (run: JobRun) => Promise<unknown>): void {
    handle(kind, { maxAttempts: 5 }, (_payload, run) => work(run))
    queue.every(seconds, kind, {} as Record<string, never>)
  }
}
