// Deletes data that is no longer needed. The log of findings and all payments are stored permanently.

import { findExcessCutoff, MAX_UNPAID_QUOTES } from '@svc/payments/selling/excess-quotes'
import { type Context, unixNow } from './context.ts'
import { deleteNeverRegistered, findEndedWithLeftovers } from './delegations/store.ts'
import { deleteUnpaid, nthEndBefore } from './subscriptions/store.ts'
import { deleteDeliveries } from './work/findings/store.ts'
import { deleteWatched } from './work/tasks/watch-store.ts'

const DAY = 86_400
const DELIVERY_LIFETIME = 30 * DAY
/** Counted from the last moment at which it could be paid. */
const UNPAID_LIFETIME = 90 * DAY
/** For delegations that were never registered, which have no log. */
const UNREGISTERED_LIFETIME = 30 * DAY

/** Rows deleted by one statement, so that other writers do not wait long. */
const BATCH = 5000

export async function deleteOldData(
  context: Context,
  signal: AbortSignal,
  maxUnpaidQuotes = MAX_UNPAID_QUOTES,
): Promise<void> {
  const { db, commit } = context.database
  const now = unixNow(context)
  const { lateConfirmSeconds } = context.config.payments
  await inBatches(signal, () => commit((tx) => deleteDeliveries(tx, now - DELIVERY_LIFETIME, BATCH)))
  const over = now - lateConfirmSeconds
  const tooMany = await findExcessCutoff((end, n) => nthEndBefore(db, end, n), over, maxUnpaidQuotes)
  await inBatches(signal, () => commit((tx) => deleteUnpaid(tx, Math.max(over - UNPAID_LIFETIME, tooMany), BATCH)))
  await inBatches(signal, () => commit((tx) => deleteNeverRegistered(tx, now - UNREGISTERED_LIFETIME, BATCH)))
  await context.queue.deleteOldDead()
  for (const delegationId of await findEndedWithLeftovers(db, BATCH))
    await inBatches(signal, () => commit((tx) => deleteWatched(tx, delegationId, BATCH)))
}

async function inBatches(signal: AbortSignal, deleteBatch: () => Promise<number>): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH; ) {
    signal.throwIfAborted()
    deleted = await deleteBatch()
  }
}
