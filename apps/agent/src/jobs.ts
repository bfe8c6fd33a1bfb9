// Which jobs there are, what does them, and those that come by themselves.

import { forgetNonces } from '@svc/guard/nonce-store'
import type { JobRun, Queue } from '@svc/queue/queue'
import { type Context, unixNow } from './context.ts'
import { CHECK_ATTEMPTS, lookForKey } from './delegations/check-registration.ts'
import { forgetOld } from './delete-old-data.ts'
import { enqueueDueWork } from './work/due-work.ts'
import { TELL_ATTEMPTS, tell } from './work/findings/deliver-webhook.ts'
import type { JobPayloads, Nothing } from './work/job-payloads.ts'
import { TASK_ATTEMPTS } from './work/runs/run-task.ts'
import { mirror } from './work/tasks/mirror.ts'
import { watch } from './work/tasks/watch.ts'

type HandleOptions = Parameters<Queue<JobPayloads>['handle']>[1]

/** To be called once; what is due is done from then on, where workers run. */
export function registerJobs(context: Context): void {
  const { queue, rateLimiter, database } = context
  // Of each kind several times as many at once as one subscriber may have: those that wait cost little.
  const checking: HandleOptions = { concurrency: 4, maxAttempts: CHECK_ATTEMPTS }
  const mirroring: HandleOptions = { concurrency: 16, maxAttempts: TASK_ATTEMPTS }
  const watching: HandleOptions = { concurrency: 12, maxAttempts: TASK_ATTEMPTS }
  const telling: HandleOptions = { concurrency: 100, maxAttempts: TELL_ATTEMPTS }

  handle('check-registration', checking, ({ delegation_id }, run) => lookForKey(context, delegation_id, run))
  handle('mirror', mirroring, ({ delegation_id }, run) => mirror(context, delegation_id, run))
  handle('watch', watching, ({ delegation_id }, run) => watch(context, delegation_id, run))
  handle('tell', telling, ({ delivery_id }, run) => tell(context, delivery_id, run))
  regularly(60, 'due-work', () => enqueueDueWork(context))
  regularly(60, 'forget-nonces', () => forgetNonces(database.db, unixNow(context)))
  regularly(300, 'forget-rate-limits', () => rateLimiter.forget())
  regularly(3600, 'forget-old', (run) => forgetOld(context, run.signal))

  /** All of these may be cut off and begun again: each writes what it has to by itself, and what is done stays done. */
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

  /** One that fails is tried again within minutes; then the next is not far. */
  function regularly(seconds: number, kind: keyof JobPayloads, work: (run: JobRun) => Promise<unknown>): void {
    handle(kind, { maxAttempts: 5 }, (_nothing, run) => work(run))
    queue.every(seconds, kind, {} as Nothing)
  }
}
