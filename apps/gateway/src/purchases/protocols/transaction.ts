// From a paid transaction to its receipt.

import type { Body } from '@svc/api/endpoint'
import type { Confirmation, confirmStorage, Quote } from '@svc/api/purchases'
import type { WireRequest } from '@svc/http-service/wire-request'
import { paymentRefused, payReqNotFound } from '@svc/payments/selling/errors'
import { payerProof, requirePayerProof, requireTransaction } from '@svc/payments/selling/payer-proof'
import { inQuoteTime, paidLeg, readPayment } from '@svc/payments/selling/read-payment'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { limitStranger } from '../../auth/limits.ts'
import type { Context } from '../../context.ts'
import { claim, type PaymentProof } from '../claim.ts'
import { confirmUrlOf } from '../quote.ts'
import { findPayRequest, findReceiptOfRequest, type PayRequest } from '../store.ts'

type ConfirmBody = Body<typeof confirmStorage>

/** Checks in the order of AMB-86. A paid quote answers its receipt to its payer again, even long after it expired. */
export async function confirmPayment(context: Context, body: ConfirmBody, wire: WireRequest): Promise<Confirmation> {
  const proof = payerProof(wire.headers, body)
  const existing = await findReceiptOfRequest(context.database.db, body.pay_req_id)
  if (existing) {
    const confirmUrl = confirmUrlOf(context.config.http)
    await requirePayerProof(proof, existing, confirmUrl, () => limitStranger(context, wire, null))
    await context.continuity.requireWritten({ kind: 'receipt', key: existing.receipt_id })
    return confirmation(existing, true)
  }
  const [claimed] = await claim(context, await readProof(context, body, requireTransaction(proof), wire))
  return confirmation(claimed.receipt, !claimed.isNew)
}

export function confirmation(receipt: SignedReceipt, idempotent: boolean): Confirmation {
  const { receipt_id, paid_amount, paid_raw, pay_asset, network } = receipt
  return { ok: true, receipt_id, receipt, idempotent, paid_amount, paid_raw, pay_asset, network }
}

async function readProof(context: Context, body: ConfirmBody, tx: string, wire: WireRequest): Promise<PaymentProof> {
  const { db } = context.database
  const { pay_req_id: payReqId } = body
  const request = await findPayRequest(db, payReqId)
  if (!request) throw payReqNotFound()
  await limitStranger(context, wire, null)
  await context.continuity.requireCurrent()
  const { leg, payment } = await inQuoteTime(context, [request], () => readLeg(context, request, body, tx))
  return { tx: payment.tx, kind: 'single', payment, quotes: [{ request, leg }] }
}

/** The leg that the body names, and the payment of it that the chain shows. */
async function readLeg(context: Context, request: PayRequest, body: ConfirmBody, tx: string) {
  const { accepts } = JSON.parse(request.quote) as Quote
  const leg = paidLeg(accepts, {
    pay_network: body.pay_network ?? body.payment_chain,
    pay_asset: body.pay_asset ?? body.payment_asset,
  })
  const payment = await readPayment(context, tx, [{ request, leg }], [request.pay_req_id])
  if (payment.outcome === 'rejected') throw paymentRefused(payment.reason, payment.seen)
  return { leg, payment }
}
