// The interface of the work module: the two tasks, their schedule, and the webhooks that report findings.

import type { JobRun } from '@svc/database/queue/queue'
import type { Context } from '../context.ts'
import { deliverWebhook } from './findings/deliver-webhook.ts'
import { enqueueDueWork } from './runs/begin-run.ts'
import { type Revoke, runTask } from './runs/run-task.ts'
import { mirrorSources } from './tasks/mirror.ts'
import { watchLocker } from './tasks/watch.ts'

export interface Work {
  /** Makes the gateway fetch every source of the mirror into the locker. */
  mirror(delegationId: string, job: JobRun): Promise<void>
  /** Compares the locker with the records of earlier runs. */
  watch(delegationId: string, job: JobRun): Promise<void>
  deliverWebhook(deliveryId: string, job: JobRun): Promise<void>
  /** Enqueues every registration check and every run that is due. */
  enqueueDue(): Promise<void>
}

/** `revokeDelegation` ends the delegation permanently. */
export function createWork(context: Context, { revokeDelegation }: { revokeDelegation: Revoke }): Work {
  return {
    mirror: (delegationId, job) =>
      runTask(context, revokeDelegation, { task: 'mirror', delegationId, job }, (run) => mirrorSources(context, run)),
    watch: (delegationId, job) =>
      runTask(context, revokeDelegation, { task: 'watch', delegationId, job }, (run) => watchLocker(context, run)),
    deliverWebhook: (deliveryId, job) => deliverWebhook(context, deliveryId, job),
    enqueueDue: () => enqueueDueWork(context),
  }
}
