// From a paid transaction to its receipt.

import type { Body } from '@svc/api/endpoint'
import type { Confirmation, confirmStorage, Quote } from '@svc/api/purchases'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { LegChoice } from '@svc/payments/legs'
import { paymentRefused, payReqNotFound } from '@svc/payments/selling/errors'
import { payerProof, requirePayerProof, requireTransaction } from '@svc/payments/selling/payer-proof'
import { inQuoteTime, paidLeg, readPayment } from '@svc/payments/selling/read-payment'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { limitStranger } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { type Claim, claimPayment } from './claim-payments.ts'
import { newReceipt } from './new-receipt.ts'
import { confirmUrlOf } from './quote.ts'
import { findPayRequest, findReceiptOfRequest, type PayRequest } from './store.ts'
import { noteRefused, refusalOfSecond } from './unclaimed/note-payment.ts'

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
      const shown = { payReqId: body.pay_req_id, tx: proof.tx, choice: legChoice(body) }
      await requirePayerProof(proof, existing, confirmUrl, () => limitStranger(context, wire, null)).catch(
        async (refusal: unknown) => {
          throw await refusalOfSecond(context, refusal, shown)
        },
      )
      await context.continuity.requireWritten({ kind: 'receipt', key: existing.receipt_id })
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

async function readClaim(context: Context, body: ConfirmBody, tx: string, wire: WireRequest): Promise<Claim> {
  const { db } = context.database
  const { pay_req_id: payReqId } = body
  const request = await findPayRequest(db, payReqId)
  if (!request) throw payReqNotFound()
  await limitStranger(context, wire, null)
  await context.continuity.requireCurrent()
  const { leg, payment } = await inQuoteTime(context, [request], () => readLeg(context, request, body, tx))
  return { receipt: await newReceipt(context, request, leg, payment), payment }
}

/** The leg that the body names, and the payment of it that the chain shows. */
async function readLeg(context: Context, request: PayRequest, body: ConfirmBody, tx: string) {
  const { accepts } = JSON.parse(request.quote) as Quote
  const leg = paidLeg(accepts, legChoice(body))
  const payReqIds = [request.pay_req_id]
  const payment = await readPayment(context, tx, [{ request, leg }], payReqIds)
  if (payment.outcome === 'found') return { leg, payment }
  const { reason, seen } = payment
  const isNoted = await noteRefused(context, { request, leg, payReqIds, reason, payment: seen.payment })
  throw paymentRefused(reason, seen, isNoted)
}

function legChoice(body: ConfirmBody): LegChoice {
  return {
    pay_network: body.pay_network ?? body.payment_chain,
    pay_asset: body.pay_asset ?? body.payment_asset,
  }
}
