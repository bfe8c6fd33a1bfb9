// From a paid transaction to its receipt.

import type { Body } from '@svc/api/endpoint'
import type { Confirmation, confirmStorage, Quote } from '@svc/api/purchases'
import type { WireRequest } from '@svc/http-service/wire-request'
import { receiptId } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { paymentRefused, payReqNotFound } from '@svc/sales/errors'
import { payerProof, requirePayerProof, requireTransaction } from '@svc/sales/payer-proof'
import { inQuoteTime, paidLeg, readPayment } from '@svc/sales/read-payment'
import { limitStranger } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { receiptHash } from '../continuity/entries.ts'
import { type Claim, claimPayment } from './claim-payments.ts'
import { newReceipt } from './new-receipt.ts'
import { confirmUrlOf } from './quote.ts'
import { remadeClaim } from './remake-receipt.ts'
import { findLostReceipt, findPayRequest, findReceiptOfRequest, type PayRequest } from './store.ts'

type ConfirmBody = Body<typeof confirmStorage>

export type ConfirmPayment = (body: ConfirmBody, wire: WireRequest) => Promise<Confirmation>

/** Checks in the order of AMB-86. A paid quote answers its receipt to its payer again, even long after it expired. */
export function createConfirmPayment(context: Context): ConfirmPayment {
  const { db } = context.database
  const confirmUrl = confirmUrlOf(context.config.http)
  return async (body, wire) => {
    const proof = payerProof(wire.headers, body)
    const existing = await findReceiptOfRequest(db, body.pay_req_id)
    if (existing) {
      await requirePayerProof(proof, existing, confirmUrl, () => limitStranger(context, wire, null))
      await context.continuity.noteUnclear()
      return confirmation(existing, true)
    }
    const claimed = await claimPayment(context, await readClaim(context, body, requireTransaction(proof), wire))
    return confirmation(claimed.receipt, !claimed.isNew)
  }
}

export function confirmation(receipt: SignedReceipt, idempotent: boolean): Confirmation {
  const { receipt_id, paid_amount, paid_raw, pay_asset, network } = receipt
  return { ok: true, receipt_id, receipt, idempotent, paid_amount, paid_raw, pay_asset, network }
}

/** What was confirmed before and lost needs no proof but its ids, at any time: both together, only its buyer has. */
async function readClaim(context: Context, body: ConfirmBody, tx: string, wire: WireRequest): Promise<Claim> {
  const { db } = context.database
  const { pay_req_id: payReqId } = body
  const lost = await findLostReceipt(db, receiptHash(receiptId(payReqId, tx)))
  const request = await findPayRequest(db, payReqId)
  if (!request && !lost) throw payReqNotFound()
  await limitStranger(context, wire, null)
  await context.continuity.requireCurrent()
  const remade = lost && (await remadeClaim(context, payReqId, lost))
  if (remade) return remade
  if (!request) throw payReqNotFound()
  const read = () => readLeg(context, request, body, tx)
  const { leg, payment } = lost ? await read() : await inQuoteTime(context, [request], read)
  return { receipt: await newReceipt(context, request, leg, payment), request, payment }
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
