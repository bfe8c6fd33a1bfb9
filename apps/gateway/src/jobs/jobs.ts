// Which function handles which job, and which jobs run on a schedule.

import { type JobRun, PermanentError, type Queue } from '@svc/database/queue/queue'
import { forgetNonces } from '@svc/service/guard/nonces'
import { ServiceError } from '@svc/service/service-error'
import { sweepShares } from '../adapters/http/shares/sweep-shares.ts'
import { sweepKeys } from '../adapters/s3/credentials/sweep-keys.ts'
import { forgetSpending } from '../budgets/budgets.ts'
import { type Context, unixNow } from '../context.ts'
import { ATTEST_ATTEMPTS, runAttestJob } from '../evidence/attest-job.ts'
import { DELIVERY_ATTEMPTS, deliverObject, dropStaged } from '../files/delivery/deliver-object.ts'
import { sweepDeliveries } from '../files/delivery/schedule.ts'
import { resumeFinalizations, sweepSessions } from '../files/parts/close-session.ts'
import { sweepObjects } from '../files/sweep-objects.ts'
import { cronAttest } from '../publication/cron-attest.ts'
import { writeEntry } from '../publication/evm-registry/entries.ts'
import { runAttestPaymentJob } from '../publication/payment-codes.ts'
import { watch } from '../publication/publisher.ts'
import { PUBLISHERS } from '../publication/publishers.ts'
import { PUSH_ATTEMPTS, runPushJob } from '../publication/push.ts'
import { watchPayments } from '../purchases/protocols/solana-pay/watch.ts'
import { resumeSettlements } from '../purchases/protocols/x402/settle.ts'
import { sweepQuotes } from '../purchases/sweep.ts'
import { sampleGrowth } from '../views/admin/growth.ts'
import { countSales } from '../views/admin/sales.ts'
import type { JobPayloads, Nothing } from './job-payloads.ts'

const BRIDGE_ATTEMPTS = 10

type HandleOptions = Parameters<Queue<JobPayloads>['handle']>[1]

/** Call this once. From then on the workers process due jobs. */
export function registerJobs(context: Context): void {
  const { queue, config, rateLimiter, database, continuity, settlers } = context
  const attests: HandleOptions = { concurrency: 2, maxAttempts: ATTEST_ATTEMPTS }
  const deliveries: HandleOptions = { concurrency: 4, maxAttempts: DELIVERY_ATTEMPTS }

  handle('attest', attests, ({ receipt_id }, { attempt }) => runAttestJob(context, receipt_id, attempt))
  handle('push', { concurrency: 5, maxAttempts: PUSH_ATTEMPTS }, ({ receipt_id }, run) =>
    runPushJob(context, receipt_id, run),
  )
  handle('bridge', { maxAttempts: BRIDGE_ATTEMPTS }, ({ receipt_id }) => writeEntry(context, receipt_id))
  handle('attest-payment', { concurrency: 5 }, ({ receipt_id }, run) => runAttestPaymentJob(context, receipt_id, run))
  handle('finalize-upload', { concurrency: 2 }, ({ session_id }) => context.finalizeSession(session_id))
  handle('settle-object', deliveries, ({ object_id }, { signal }) => deliverObject(context, object_id, signal))
  handle('drop-staged', deliveries, ({ object_id }, { signal }) => dropStaged(context, object_id, signal))

  if (config.attestations.cron.isEnabled) regularly(60, 'cron-attest', () => cronAttest(context, {}))
  for (const publisher of PUBLISHERS)
    if (publisher.isOn(context)) regularly(publisher.seconds, publisher.job, () => watch(context, publisher))
  if (settlers.size > 0) regularly(60, 'resume-settlements', () => resumeSettlements(context))
  regularly(60, 'watch-payments', (run) => watchPayments(context, run.signal))
  regularly(60, 'forget-nonces', () => database.commit((tx) => forgetNonces(tx, unixNow(context))))
  regularly(300, 'forget-rate-limits', () => rateLimiter.forget())
  regularly(60, 'resume-finalizations', () => resumeFinalizations(context))
  regularly(3600, 'forget-spending', () => forgetSpending(context))
  regularly(300, 'sweep-sessions', () => sweepSessions(context))
  regularly(300, 'sweep-objects', () => sweepObjects(context))
  regularly(600, 'sweep-quotes', (run) => sweepQuotes(context, run.signal))
  regularly(3600, 'sweep-s3-keys', async (run) => {
    await sweepKeys(context, run.signal)
    await sweepShares(context, run.signal)
  })
  regularly(3600, 'forget-dead-jobs', () => queue.deleteOldDead())
  regularly(600, 'sweep-settling', () => sweepDeliveries(context))
  regularly(60, 'count-sales', () => countSales(context))
  regularly(3600, 'sample-growth', () => sampleGrowth(context))

  /**
   * Every job may be interrupted and repeated: it commits its own writes and skips what is done. No job runs on a
   * database that is behind: it would repeat finished work and sweep away objects that it does not know.
   */
  function handle<Kind extends keyof JobPayloads>(
    kind: Kind,
    options: HandleOptions,
    work: (payload: JobPayloads[Kind], run: JobRun) => Promise<unknown>,
  ): void {
    queue.handle(kind, options, async (payload, run) => {
      await continuity.whenCurrent(run.signal)
      await work(payload, run).catch(giveUpOnRefusal)
      return async () => {}
    })
  }

  /** A failed run is repeated within minutes; after that, the next scheduled run is near. */
  function regularly(seconds: number, kind: keyof JobPayloads, work: (run: JobRun) => Promise<unknown>): void {
    handle(kind, { maxAttempts: 5 }, (_payload, run) => work(run))
    queue.every(seconds, kind, {} as Nothing)
  }
}

/** An error that would be a 4xx response stays one, however often the job is repeated (INT-05). */
function giveUpOnRefusal(error: unknown): never {
  if (error instanceof ServiceError && (error.status < 500 || error.code === 'LOCKER_CAPACITY_EXCEEDED'))
    throw new PermanentError(error.code, { cause: error })
  throw error
}
