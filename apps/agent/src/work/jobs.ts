// Which jobs there are, what does them, and those that come by themselves.

import { forgetNonces } from '@svc/guard/nonce-store'
import type { JobRun, Queue } from '@svc/queue/queue'
import { type Context, unixNow } from '../context.ts'
import { checkRegistration } from '../delegations/check-registration.ts'
import { enqueueDueWork } from './due-work.ts'
import { mirror } from './mirror.ts'
import { TASK_ATTEMPTS } from './run-task.ts'
import { TELL_ATTEMPTS, tell } from './tell.ts'
import { watch } from './watch.ts'

type Nothing = Record<string, never>
type HandleOptions = Parameters<Queue<JobPayloads>['handle']>[1]

export interface JobPayloads {
  'check-registration': { delegation_id: string }
  mirror: { delegation_id: string }
  watch: { delegation_id: string }
  tell: { delivery_id: string }
  'due-work': Nothing
  'forget-nonces': Nothing
  'forget-rate-limits': Nothing
}

/** To be called once; what is due is done from then on, where workers run. */
export function registerJobs(context: Context): void {
  const { queue, rateLimiter, database } = context
  const tasks: HandleOptions = { concurrency: 4, maxAttempts: TASK_ATTEMPTS }

  handle('check-registration', { concurrency: 4 }, ({ delegation_id }) => checkRegistration(context, delegation_id))
  handle('mirror', tasks, ({ delegation_id }, run) => mirror(context, delegation_id, run))
  handle('watch', tasks, ({ delegation_id }, run) => watch(context, delegation_id, run))
  handle('tell', { concurrency: 8, maxAttempts: TELL_ATTEMPTS }, ({ delivery_id }, run) =>
    tell(context, delivery_id, run),
  )
  regularly(60, 'due-work', () => enqueueDueWork(context))
  regularly(60, 'forget-nonces', () => forgetNonces(database.db, unixNow(context)))
  regularly(300, 'forget-rate-limits', () => rateLimiter.forget())

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
  function regularly(seconds: number, kind: keyof JobPayloads, work: () => Promise<unknown>): void {
    handle(kind, { maxAttempts: 5 }, work)
    queue.every(seconds, kind, {} as Nothing)
  }
}
