import type { confirmSubscription, SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { Body } from '@svc/api/endpoint'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { ChainPayment } from '@svc/payments/payment'
import { paymentRefused, payReqNotFound } from '@svc/payments/selling/errors'
import { newReceipt } from '@svc/payments/selling/new-receipt'
import { type PayerProof, payerProof, requirePayerProof, requireTransaction } from '@svc/payments/selling/payer-proof'
import { inQuoteTime, paidLeg, type QuotedLeg, readPayment } from '@svc/payments/selling/read-payment'
import { signReceipt } from '@svc/protocol/receipt'
import type { Callers } from '../callers/callers.ts'
import { identityOf } from '../callers/identity.ts'
import { type Context, unixNow } from '../context.ts'
import type { PayRequest } from '../db/schema.ts'
import { extendSubscription } from './extend-subscription.ts'
import { confirmUrlOf } from './quote.ts'
import { findPayRequest, findPurchase, type Purchase } from './store.ts'
import { subscriptionView } from './subscription-view.ts'

type ConfirmBody = Body<typeof confirmSubscription>

export function confirmPayment(
  context: Context,
  callers: Callers,
  body: ConfirmBody,
  wire: WireRequest,
): Promise<SubscriptionConfirmation> {
  const shown = { ...body, identity: identityOf(wire), proof: payerProof(wire.headers, body) }
  return confirmShown(context, callers, shown, wire)
}

/** A payment as somebody shows it. */
export interface ShownPayment extends Pick<ConfirmBody, 'pay_req_id' | 'pay_network' | 'pay_asset'> {
  /** Who says that they paid; null where only the chain is asked. */
  identity: string | null
  proof: PayerProof
}

/** A repeated confirmation returns the first answer to its payer, even long after the quote has expired. */
export async function confirmShown(
  context: Context,
  callers: Callers,
  shown: ShownPayment,
  wire: WireRequest,
): Promise<SubscriptionConfirmation> {
  const { identity, proof } = shown
  const { db } = context.database
  const request = await findPayRequest(db, shown.pay_req_id)
  if (!request) throw payReqNotFound()
  const existing = await findPurchase(db, request.pay_req_id)
  if (existing) {
    const confirmUrl = confirmUrlOf(context.config.http)
    await requirePayerProof(proof, existing.receipt, confirmUrl, () => callers.limitStranger(wire))
    return confirmation(context, existing, identity, true)
  }
  const tx = requireTransaction(proof)
  await callers.limitStranger(wire)
  const { leg, payment } = await inQuoteTime(context, [request], () => readLeg(context, request, shown, tx))
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
  shown: ShownPayment,
  tx: string,
): Promise<{ leg: QuotedLeg; payment: ChainPayment }> {
  const { accepts } = JSON.parse(request.quote) as SubscriptionQuote
  const leg = paidLeg(accepts, shown)
  const payment = await readPayment(context, tx, [{ request, leg }], [request.pay_req_id])
  if (payment.outcome === 'rejected') throw paymentRefused(payment.reason, payment.seen)
  return { leg, payment }
}

function requirePayer(payer: string, identity: string | null): void {
  if (identity === null || payer === identity) return
  throw new ServiceError('OWNER_IDENTITY_MISMATCH', 'X-Svc-Identity is not who paid on chain', {
    hint: 'name the wallet that paid: the subscription is its own',
  })
}

/** Shows the subscription as this payment left it; later payments do not change the answer. */
function confirmation(
  context: Context,
  purchase: Purchase,
  identity: string | null,
  idempotent: boolean,
): SubscriptionConfirmation {
  requirePayer(purchase.identity, identity)
  const { receipt_id, receipt } = purchase
  return { ok: true, idempotent, receipt_id, receipt, subscription: subscriptionView(context, purchase) }
}
