import type { confirmSubscription, SubscriptionConfirmation } from '@svc/api/agent/subscriptions'
import type { Body } from '@svc/api/endpoint'
import { payerProof, readConfirmation, type Seller, type ShownPayment } from '@svc/payments/selling/confirm'
import { payReqNotFound } from '@svc/payments/selling/errors'
import { newReceipt } from '@svc/payments/selling/new-receipt'
import { signReceipt } from '@svc/protocol/receipt'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
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

interface ClaimedPayment extends ShownPayment {
  /** The identity that claims to have paid; null if only the chain decides. */
  identity: string | null
}

/** A repeated confirmation returns the first answer to its payer, even long after the quote has expired. */
export async function confirmShown(
  context: Context,
  callers: Callers,
  { identity, ...shown }: ClaimedPayment,
  wire: WireRequest,
): Promise<SubscriptionConfirmation> {
  const { bought, paid } = await readConfirmation(subscriptionSeller(context, callers), shown, wire)
  if (bought) return confirmation(context, bought, identity, true)
  const { request, leg, payment } = paid
  const facts = { payReqId: request.pay_req_id, units: 1, leg, payment, confirmedAt: unixNow(context) }
  const receipt = signReceipt(newReceipt(facts), context.signer)
  requirePayer(receipt.payer_pubkey, identity)
  const { purchase, isNew } = await extendSubscription(context, receipt)
  return confirmation(context, purchase, identity, !isNew)
}

function requirePayer(payer: string, identity: string | null): void {
  if (identity === null || payer === identity) return
  throw new ServiceError('OWNER_IDENTITY_MISMATCH', 'X-Svc-Identity is not the wallet that paid on chain', {
    hint: 'use the wallet that paid, which owns the subscription',
  })
}

/** The subscription as of this payment; later payments do not change the answer. */
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

/** The service as a seller of subscriptions. */
export function subscriptionSeller(context: Context, { limitAnonymous }: Callers): Seller<PayRequest, Purchase> {
  const { sales, config, log, now } = context
  const { db } = context.database
  return {
    sales,
    config,
    log,
    now,
    confirmUrl: confirmUrlOf(config.http),
    limitAnonymous,
    findQuote: (payReqId) => findPayRequest(db, payReqId),
    async findBought(payReqId) {
      const purchase = await findPurchase(db, payReqId)
      if (purchase === null && (await findPayRequest(db, payReqId)) === null) throw payReqNotFound()
      return purchase
    },
  }
}
