// Deletes what need not be kept. The log of findings and everything that was paid stay for ever.

import { endOfTooMany, MAX_UNPAID_QUOTES } from '@svc/payments/selling/too-many-quotes'
import { type Context, unixNow } from './context.ts'
import { deleteNeverRegistered, findEndedWithLeftovers } from './delegations/store.ts'
import { deleteUnpaid, nthEndBefore } from './subscriptions/store.ts'
import { deleteDeliveries } from './work/findings/store.ts'
import { deleteWatched } from './work/tasks/watch-store.ts'

const DAY = 86_400
const DELIVERIES_KEPT = 30 * DAY
/** After the last moment at which it could be paid. */
const UNPAID_KEPT = 90 * DAY
/** They have no log. */
const NEVER_REGISTERED_KEPT = 30 * DAY

/** Rows that one statement deletes, so that other writers do not wait long. */
const BATCH = 5000

export async function deleteOldData(
  context: Context,
  signal: AbortSignal,
  maxKeptQuotes = MAX_UNPAID_QUOTES,
): Promise<void> {
  const { db, commit } = context.database
  const now = unixNow(context)
  const { lateConfirmSeconds } = context.config.payments
  await inBatches(signal, () => commit((tx) => deleteDeliveries(tx, now - DELIVERIES_KEPT, BATCH)))
  const over = now - lateConfirmSeconds
  const tooMany = await endOfTooMany((end, n) => nthEndBefore(db, end, n), over, maxKeptQuotes)
  await inBatches(signal, () => commit((tx) => deleteUnpaid(tx, Math.max(over - UNPAID_KEPT, tooMany), BATCH)))
  await inBatches(signal, () => commit((tx) => deleteNeverRegistered(tx, now - NEVER_REGISTERED_KEPT, BATCH)))
  await context.queue.forgetDead()
  for (const delegationId of await findEndedWithLeftovers(db, BATCH))
    await inBatches(signal, () => commit((tx) => deleteWatched(tx, delegationId, BATCH)))
}

async function inBatches(signal: AbortSignal, deleteBatch: () => Promise<number>): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH; ) {
    signal.throwIfAborted()
    deleted = await deleteBatch()
  }
}
