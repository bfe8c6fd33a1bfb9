import type { Body } from '@svc/api/endpoint'
import type { Confirmation, confirmStorage, Quote } from '@svc/api/purchases'
import type { WireRequest } from '@svc/http-service/serve'
import { ServiceError } from '@svc/http-service/service-error'
import { judgePayment } from '@svc/payments/judge-payment'
import type { ChainPayment } from '@svc/payments/payment'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Context, unixNow } from '../context.ts'
import { claimPayment } from './claim-payment.ts'
import { paidLeg, type QuotedLeg } from './paid-leg.ts'
import { chainUnavailable, paymentRefused, quoteExpired, txNotFound } from './payment-errors.ts'
import { findPayRequest, findReceiptOfRequest, type PayRequest } from './store.ts'
import { transactionId } from './transaction-id.ts'

type ConfirmBody = Body<typeof confirmStorage>

/** In the order of AMB-86. A repeated confirmation returns the receipt there is, also when the quote is long over. */
export async function confirmPayment(context: Context, body: ConfirmBody, wire: WireRequest): Promise<Confirmation> {
  const tx = transactionId(wire.headers, body.tx_sig)
  const { db } = context.database
  const request = await findPayRequest(db, body.pay_req_id)
  if (!request)
    throw new ServiceError('pay_req_not_found', 'there is no quote with this pay_req_id', {
      hint: 'POST /v1/storage/request for a quote',
    })
  const existing = await findReceiptOfRequest(db, request.pay_req_id)
  if (existing) return confirmation(existing, true)
  const { leg, payment } = await verifiedPayment(context, request, body, tx)
  const { receipt, isNew } = await claimPayment(context, request, leg, payment)
  return confirmation(receipt, !isNew)
}

/**
 * The payment, read from the chain and found good. A quote is over for payments, not for the paperwork: one that was
 * paid in time may be confirmed later, and everything else about a quote that is over is 410 (AMB-06).
 */
async function verifiedPayment(
  context: Context,
  request: PayRequest,
  body: ConfirmBody,
  tx: string,
): Promise<{ leg: QuotedLeg; payment: ChainPayment }> {
  const { lateConfirmSeconds } = context.config.payments
  const now = unixNow(context)
  if (now <= request.expires_at) return readPayment(context, request, body, tx)
  if (now > request.expires_at + lateConfirmSeconds) throw quoteExpired()
  try {
    return await readPayment(context, request, body, tx)
  } catch (error) {
    throw error instanceof ServiceError ? quoteExpired() : error
  }
}

async function readPayment(context: Context, request: PayRequest, body: ConfirmBody, tx: string) {
  const { accepts } = JSON.parse(request.quote) as Quote
  const leg = paidLeg(accepts, {
    pay_network: body.pay_network ?? body.payment_chain,
    pay_asset: body.pay_asset ?? body.payment_asset,
  })
  const reading = await context.sales.reader(leg.network).read(tx, leg)
  switch (reading.outcome) {
    case 'unavailable':
      context.log.warn({ network: leg.network.name, problem: reading.problem }, 'a chain could not be read')
      throw chainUnavailable()
    case 'not_found':
      throw txNotFound(leg.network)
    case 'rejected':
      throw paymentRefused(reading.reason)
  }
  const judgement = judgePayment(reading, {
    amount: leg.amount,
    payReqIds: [request.pay_req_id],
    createdAt: request.created_at,
    expiresAt: request.expires_at,
    skewSeconds: context.config.payments.timeSkewSeconds,
    now: unixNow(context),
  })
  if (!judgement.paid) throw paymentRefused(judgement.reason)
  return { leg, payment: reading }
}

export function confirmation(receipt: SignedReceipt, idempotent: boolean): Confirmation {
  const { receipt_id, paid_amount, paid_raw, pay_asset, network } = receipt
  return { ok: true, receipt_id, receipt, idempotent, paid_amount, paid_raw, pay_asset, network }
}
