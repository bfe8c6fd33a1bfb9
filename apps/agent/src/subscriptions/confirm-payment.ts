import type { confirmSubscription, SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { Body } from '@svc/api/endpoint'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { ChainPayment } from '@svc/payments/payment'
import { signReceipt } from '@svc/protocol/receipt'
import { paymentRefused, payReqNotFound } from '@svc/sales/errors'
import { newReceipt } from '@svc/sales/new-receipt'
import { payerProof, requirePayerProof, requireTransaction } from '@svc/sales/payer-proof'
import { inQuoteTime, paidLeg, type QuotedLeg, readPayment } from '@svc/sales/read-payment'
import type { Callers } from '../callers/callers.ts'
import { identityOf } from '../callers/identity.ts'
import { type Context, unixNow } from '../context.ts'
import type { PayRequest } from '../db/schema.ts'
import { extendSubscription } from './extend-subscription.ts'
import { confirmUrlOf } from './quote.ts'
import { findPayRequest, findPurchase, type Purchase } from './store.ts'
import { subscriptionView } from './subscription-view.ts'

type ConfirmBody = Body<typeof confirmSubscription>

/** A repeated confirmation returns the first answer to its payer, even long after the quote has expired. */
export async function confirmPayment(
  context: Context,
  callers: Callers,
  body: ConfirmBody,
  wire: WireRequest,
): Promise<SubscriptionConfirmation> {
  const identity = identityOf(wire)
  const proof = payerProof(wire.headers, body)
  const { db } = context.database
  const request = await findPayRequest(db, body.pay_req_id)
  if (!request) throw payReqNotFound()
  const existing = await findPurchase(db, request.pay_req_id)
  if (existing) {
    const confirmUrl = confirmUrlOf(context.config.http)
    await requirePayerProof(proof, existing.receipt, confirmUrl, () => callers.limitStranger(wire))
    return confirmation(context, existing, identity, true)
  }
  const tx = requireTransaction(proof)
  await callers.limitStranger(wire)
  const { leg, payment } = await inQuoteTime(context, [request], () => readLeg(context, request, body, tx))
  const { pay_req_id: payReqId } = request
  const paid = newReceipt({ payReqId, units: 1, leg, payment, confirmedAt: unixNow(context) })
  const receipt = signReceipt(paid, context.signer)
  requirePayer(receipt.payer_pubkey, identity)
  const { purchase, isNew } = await extendSubscription(context, receipt)
  return confirmation(context, purchase, identity, !isNew)
}

/** The payment as the chain shows it; throws when it does not pay the quote. */
async function readLeg(
  context: Context,
  request: PayRequest,
  body: ConfirmBody,
  tx: string,
): Promise<{ leg: QuotedLeg; payment: ChainPayment }> {
  const { accepts } = JSON.parse(request.quote) as SubscriptionQuote
  const leg = paidLeg(accepts, body)
  const payment = await readPayment(context, tx, [{ request, leg }], [request.pay_req_id])
  if (payment.outcome === 'rejected') throw paymentRefused(payment.reason, payment.seen)
  return { leg, payment }
}

function requirePayer(payer: string, identity: string): void {
  if (payer === identity) return
  throw new ServiceError('OWNER_IDENTITY_MISMATCH', 'X-Svc-Identity is not who paid on chain', {
    hint: 'name the wallet that paid: the subscription is its own',
  })
}

/** Shows the subscription as this payment left it; later payments do not change the answer. */
function confirmation(
  context: Context,
  purchase: Purchase,
  identity: string,
  idempotent: boolean,
): SubscriptionConfirmation {
  requirePayer(purchase.identity, identity)
  const { receipt_id, receipt } = purchase
  return { ok: true, idempotent, receipt_id, receipt, subscription: subscriptionView(context, purchase) }
}
