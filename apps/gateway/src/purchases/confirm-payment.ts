// From a paid transaction to its receipt.

import type { Body } from '@svc/api/endpoint'
import type { Confirmation, confirmStorage, Quote } from '@svc/api/purchases'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { ChainPayment } from '@svc/payments/payment'
import { toHex } from '@svc/protocol/bytes'
import { receiptId } from '@svc/protocol/ids'
import { receiptMessage, type SignedReceipt, signedReceipt } from '@svc/protocol/receipt'
import { paymentRefused, payReqNotFound } from '@svc/sales/errors'
import * as sales from '@svc/sales/new-receipt'
import { payerProof, requirePayerProof, requireTransaction } from '@svc/sales/payer-proof'
import { inQuoteTime, paidLeg, type QuotedLeg, readPayment } from '@svc/sales/read-payment'
import { limitStranger } from '../auth/limits.ts'
import { type Context, unixNow } from '../context.ts'
import { receiptHash } from '../continuity/entries.ts'
import type { ClaimPayment } from './claim-payments.ts'
import { confirmUrlOf } from './quote.ts'
import { findLostReceipt, findPayRequest, findReceiptOfRequest, type PayRequest } from './store.ts'

type ConfirmBody = Body<typeof confirmStorage>

export type ConfirmPayment = (body: ConfirmBody, wire: WireRequest) => Promise<Confirmation>

/** Checks in the order of AMB-86. A paid quote answers its receipt to its payer again, even long after it expired. */
export function createConfirmPayment(context: Context, claim: ClaimPayment): ConfirmPayment {
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
    const tx = requireTransaction(proof)
    const request = await findPayRequest(db, body.pay_req_id)
    if (!request) throw payReqNotFound()
    await limitStranger(context, wire, null)
    await context.continuity.requireCurrent()
    const { leg, payment } = await inQuoteTime(context, [request], () => readLeg(context, request, body, tx))
    const { receipt, isNew } = await claim({ receipt: await newReceipt(context, request, leg, payment), payment })
    return confirmation(receipt, !isNew)
  }
}

export function confirmation(receipt: SignedReceipt, idempotent: boolean): Confirmation {
  const { receipt_id, paid_amount, paid_raw, pay_asset, network } = receipt
  return { ok: true, receipt_id, receipt, idempotent, paid_amount, paid_raw, pay_asset, network }
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

/**
 * A receipt that the database has lost is made again as it was, by the key of its time. Where that key is gone, it is
 * dated now: no key of today may sign for a time before its own (T-159).
 */
export async function newReceipt(
  context: Context,
  { pay_req_id: payReqId, units, quote }: PayRequest,
  leg: QuotedLeg,
  payment: ChainPayment,
): Promise<SignedReceipt> {
  const { renewal } = (JSON.parse(quote) as Quote).extensions.svc
  const lost = await findLostReceipt(context.database.db, receiptHash(receiptId(payReqId, payment.tx)))
  const goods = renewal
    ? { extends: renewal.receipt_id }
    : { proofId: lost?.proof_id ?? toHex(context.randomBytes(16)) }
  const keyOfTime = lost && (await context.statementKeys.ofTime(lost.confirmed_at))
  const key = keyOfTime ?? (await context.statementKeys.current())
  const confirmedAt = keyOfTime ? lost.confirmed_at : unixNow(context)
  const receipt = sales.newReceipt({ payReqId, units, leg, payment, ...goods, confirmedAt })
  return signedReceipt(receipt, key.publicKey, await key.sign(receiptMessage(receipt)))
}
