import type { Body } from '@svc/api/endpoint'
import type { Confirmation, confirmStorage, Quote } from '@svc/api/purchases'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { paymentRefused, payReqNotFound } from '@svc/sales/errors'
import { paidLeg } from '@svc/sales/paid-leg'
import { inQuoteTime, readPayment, transactionId } from '@svc/sales/read-payment'
import { limitStranger } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { claimPayment } from './claim-payment.ts'
import { findPayRequest, type PayRequest, receiptFinder } from './store.ts'

type ConfirmBody = Body<typeof confirmStorage>

export type ConfirmPayment = (body: ConfirmBody, wire: WireRequest) => Promise<Confirmation>

/** In the order of AMB-86. A repeated confirmation returns the receipt there is, also when the quote is long over. */
export function createConfirmPayment(context: Context): ConfirmPayment {
  const { db } = context.database
  const findReceipt = receiptFinder(db)
  return async (body, wire) => {
    const tx = transactionId(wire.headers, body.tx_sig)
    const existing = await findReceipt(body.pay_req_id)
    if (existing) return confirmation(existing, true)
    const request = await findPayRequest(db, body.pay_req_id)
    if (!request) throw payReqNotFound()
    await limitStranger(context, wire, null)
    const { leg, payment } = await inQuoteTime(context, [request], () => readLeg(context, request, body, tx))
    const { receipt, isNew } = await claimPayment(context, request, leg, payment)
    return confirmation(receipt, !isNew)
  }
}

/** The payment, read from the chain and found good. */
async function readLeg(context: Context, request: PayRequest, body: ConfirmBody, tx: string) {
  const { accepts } = JSON.parse(request.quote) as Quote
  const leg = paidLeg(accepts, {
    pay_network: body.pay_network ?? body.payment_chain,
    pay_asset: body.pay_asset ?? body.payment_asset,
  })
  const payment = await readPayment(context, tx, [{ request, leg }], [request.pay_req_id])
  if (payment.outcome === 'rejected') throw paymentRefused(payment.reason)
  return { leg, payment }
}

export function confirmation(receipt: SignedReceipt, idempotent: boolean): Confirmation {
  const { receipt_id, paid_amount, paid_raw, pay_asset, network } = receipt
  return { ok: true, receipt_id, receipt, idempotent, paid_amount, paid_raw, pay_asset, network }
}
