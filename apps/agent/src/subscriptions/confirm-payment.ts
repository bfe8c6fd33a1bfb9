import type { confirmSubscription, SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { Body } from '@svc/api/endpoint'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { ChainPayment } from '@svc/payments/payment'
import { newReceipt } from '@svc/sales/new-receipt'
import { paidLeg, type QuotedLeg } from '@svc/sales/paid-leg'
import { paymentRefused, payReqNotFound } from '@svc/sales/payment-errors'
import { inQuoteTime, readPayment, transactionId } from '@svc/sales/read-payment'
import { identityOf } from '../callers/identity.ts'
import { limitStranger } from '../callers/limits.ts'
import { type Context, unixNow } from '../context.ts'
import type { PayRequest } from '../db/schema.ts'
import { extendSubscription } from './extend-subscription.ts'
import { type Bought, findBought, findPayRequest } from './store.ts'
import { subscriptionView } from './subscription-view.ts'

type ConfirmBody = Body<typeof confirmSubscription>

/** A repeated confirmation returns what was bought, also when the quote is long over. */
export async function confirmPayment(
  context: Context,
  body: ConfirmBody,
  wire: WireRequest,
): Promise<SubscriptionConfirmation> {
  const identity = identityOf(wire)
  const tx = transactionId(wire.headers, body.tx_sig)
  const { db } = context.database
  const request = await findPayRequest(db, body.pay_req_id)
  if (!request) throw payReqNotFound()
  const existing = await findBought(db, request.pay_req_id)
  if (existing) return confirmation(context, existing, identity, true)
  await limitStranger(context, wire)
  const { leg, payment } = await inQuoteTime(context, [request], () => readLeg(context, request, body, tx))
  const { pay_req_id: payReqId } = request
  const receipt = newReceipt({ payReqId, units: 1, leg, payment, confirmedAt: unixNow(context) }, context.signer)
  requirePayer(receipt.payer_pubkey, identity)
  const { bought, isNew } = await extendSubscription(context, receipt)
  return confirmation(context, bought, identity, !isNew)
}

/** The payment, read from the chain and found good. */
async function readLeg(
  context: Context,
  request: PayRequest,
  body: ConfirmBody,
  tx: string,
): Promise<{ leg: QuotedLeg; payment: ChainPayment }> {
  const { accepts } = JSON.parse(request.quote) as SubscriptionQuote
  const leg = paidLeg(accepts, body)
  const payment = await readPayment(context, tx, [{ request, leg }], [request.pay_req_id])
  if (payment.outcome === 'rejected') throw paymentRefused(payment.reason)
  return { leg, payment }
}

function requirePayer(payer: string, identity: string): void {
  if (payer === identity) return
  throw new ServiceError('OWNER_IDENTITY_MISMATCH', 'X-Svc-Identity is not who paid on chain', {
    hint: 'name the wallet that paid: the subscription is its own',
  })
}

/** As this payment left the subscription: what came later does not change the answer to it. */
function confirmation(
  context: Context,
  bought: Bought,
  identity: string,
  idempotent: boolean,
): SubscriptionConfirmation {
  requirePayer(bought.identity, identity)
  const { receipt_id, receipt } = bought
  return { ok: true, idempotent, receipt_id, receipt, subscription: subscriptionView(context, bought) }
}
