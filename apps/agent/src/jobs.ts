// The jobs of the service: who does each kind, and which come round by themselves.

import type { JobRun, Queue } from '@svc/database/queue/queue'
import { forgetNonces } from '@svc/service/guard/nonces'
import { type Context, type JobPayloads, unixNow } from './context.ts'
import { CHECK_ATTEMPTS } from './delegations/check-registration.ts'
import type { Delegations } from './delegations/delegations.ts'
import { deleteOldData } from './delete-old-data.ts'
import { WEBHOOK_ATTEMPTS } from './work/findings/deliver-webhook.ts'
import { TASK_ATTEMPTS } from './work/runs/run-task.ts'
import type { Work } from './work/work.ts'

interface Rooms {
  delegations: Delegations
  work: Work
}

type HandleOptions = Parameters<Queue<JobPayloads>['handle']>[1]

/** To be called once. From then on due jobs are done by every process that runs workers. */
export function registerJobs(context: Context, { delegations, work }: Rooms): void {
  const { queue, rateLimiter, database } = context
  // Several times as many of each kind as one subscriber may have at once: jobs that only wait cost little.
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

  /** Any of these may be interrupted and started again: each writes its own progress, and repeats nothing. */
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

  /** A failure is retried for some minutes; after that the next round is near. */
  function every(seconds: number, kind: keyof JobPayloads, work: (run: JobRun) => Promise<unknown>): void {
    handle(kind, { maxAttempts: 5 }, (_payload, run) => work(run))
    queue.every(seconds, kind, {} as Record<string, never>)
  }
}
