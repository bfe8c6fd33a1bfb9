// A buyer shows the Solana Pay code of a quote, and asks the gateway to look for the payment (T-102).

import type { Body } from '@svc/api/endpoint'
import type { WatchedPayment, watchPayment as watchPaymentEndpoint } from '@svc/api/payment'
import { addressKey } from '@svc/guard/address-key'
import { isWithinLimits } from '@svc/guard/rate-limiter'
import type { WireRequest } from '@svc/http-service/wire-request'
import { payReqNotFound, quoteExpired } from '@svc/payments/selling/errors'
import { isoSeconds } from '@svc/protocol/evidence'
import { limitStranger } from '../../../auth/limits.ts'
import { unixNow } from '../../../context.ts'
import type { PurchasesContext } from '../../context.ts'
import { findPayRequest, findReceiptOfRequest, type PayRequest } from '../../store.ts'
import { countWatches, findWatch, insertWatch } from './store.ts'
import { FIRST_PAUSE_SECONDS, primaryLegs, scheduleLooks } from './watch-payments.ts'

/** For so long after a quote's end a payment of its last second is looked for, also through a short outage of nodes. */
const GRACE_SECONDS = 600
/** Quotes stay for some fifteen minutes, so that one address cannot take much more than a tenth of the places. */
const ADDRESS_SHARE = 100

export async function watchPayment(
  context: PurchasesContext,
  { pay_req_id }: Body<typeof watchPaymentEndpoint>,
  wire: WireRequest,
): Promise<WatchedPayment> {
  const { db, commit } = context.database
  await limitStranger(context, wire, null)
  const request = await findPayRequest(db, pay_req_id)
  if (!request) throw payReqNotFound()
  const now = unixNow(context)
  if (now > request.expires_at) throw quoteExpired(request.expires_at, now)
  const known = await findWatch(db, pay_req_id)
  if (known) return { watched_until: isoSeconds(known.watched_until) }
  if (!(await mayWatch(context, request, wire))) return { watched_until: null }
  const { lateConfirmSeconds } = context.config.payments
  const watched_until = request.expires_at + Math.min(GRACE_SECONDS, lateConfirmSeconds)
  await commit(async (tx) => {
    await insertWatch(tx, { pay_req_id, watched_at: now, watched_until, due_at: now + FIRST_PAUSE_SECONDS })
    await scheduleLooks(context, tx, FIRST_PAUSE_SECONDS)
  })
  return { watched_until: isoSeconds(watched_until) }
}

/** Buyers that are refused are no worse off: `find` looks for their payment while they wait. */
async function mayWatch(context: PurchasesContext, request: PayRequest, wire: WireRequest): Promise<boolean> {
  const { db } = context.database
  const { callsPerMinute, maxQuotes } = context.config.payments.watch
  if (callsPerMinute === 0 || primaryLegs(request).length === 0) return false
  if (await findReceiptOfRequest(db, request.pay_req_id)) return false
  if ((await countWatches(db)) >= maxQuotes) return false
  const perMinute = Math.ceil(maxQuotes / ADDRESS_SHARE)
  return isWithinLimits(context.rateLimiter, { key: `watch ${addressKey(wire.clientAddress)}`, perMinute })
}
