// What is not kept for ever. The log is, and whatever was paid.

import { type Context, unixNow } from './context.ts'
import { findEndedPlaces, forgetNeverRegistered } from './delegations/store.ts'
import { forgetUnpaid } from './subscriptions/store.ts'
import { forgetDeliveries } from './work/findings/store.ts'
import { forgetSeen } from './work/tasks/watch-store.ts'

const DAY = 86_400
const DELIVERIES_KEPT = 30 * DAY
/** After nobody could pay it any more. */
const UNPAID_KEPT = 90 * DAY
/** They have no log. */
const NEVER_REGISTERED_KEPT = 30 * DAY

/** In one statement: others write meanwhile. */
const AT_ONCE = 5000

export async function forgetOld(context: Context, signal: AbortSignal): Promise<void> {
  const { db } = context.database
  const now = unixNow(context)
  const { lateConfirmSeconds } = context.config.payments
  await repeat(signal, () => forgetDeliveries(db, now - DELIVERIES_KEPT, AT_ONCE))
  await repeat(signal, () => forgetUnpaid(db, now - lateConfirmSeconds - UNPAID_KEPT, AT_ONCE))
  await repeat(signal, () => forgetNeverRegistered(db, now - NEVER_REGISTERED_KEPT, AT_ONCE))
  for (const delegationId of await findEndedPlaces(db, AT_ONCE))
    await repeat(signal, () => forgetSeen(db, delegationId, AT_ONCE))
}

async function repeat(signal: AbortSignal, forget: () => Promise<number>): Promise<void> {
  for (let forgotten = AT_ONCE; forgotten === AT_ONCE; ) {
    signal.throwIfAborted()
    forgotten = await forget()
  }
}
