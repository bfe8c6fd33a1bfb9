// A payer sends a transaction and reports its id: POST /v1/storage/confirm, with X402-TX or tx_sig.

import type { Body } from '@svc/api/endpoint'
import type { Confirmation, confirmStorage } from '@svc/api/purchases'
import { payerProof, readConfirmation, type Seller, type ShownPayment } from '@svc/payments/selling/confirm'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { WireRequest } from '@svc/service/http/wire-request'
import { limitAnonymous } from '../../auth/limits.ts'
import type { Context } from '../../context.ts'
import { claim } from '../claim.ts'
import { confirmUrlOf } from '../quote.ts'
import { findPayRequest, findReceiptOfRequest, type PayRequest } from '../store.ts'
import { recordRefused, refusalOfSecond } from '../unclaimed/record-payment.ts'

export async function confirmPayment(
  context: Context,
  body: Body<typeof confirmStorage>,
  wire: WireRequest,
): Promise<Confirmation> {
  const shown = {
    pay_req_id: body.pay_req_id,
    pay_network: body.pay_network ?? body.payment_chain,
    pay_asset: body.pay_asset ?? body.payment_asset,
    proof: payerProof(wire.headers, body),
  }
  return confirmShown(context, shown, wire)
}

/** For a paid quote, returns the receipt to its payer again. */
export async function confirmShown(context: Context, shown: ShownPayment, wire: WireRequest): Promise<Confirmation> {
  const { bought, paid } = await readConfirmation(storageSeller(context), shown, wire).catch(
    async (refusal: unknown) => {
      throw await refusalOfSecond(context, refusal, shown)
    },
  )
  if (bought) {
    await context.continuity.requireWritten({ kind: 'receipt', key: bought.receipt.receipt_id })
    return confirmation(bought.receipt, true)
  }
  const { request, leg, payment } = paid
  const [{ receipt, isNew }] = await claim(context, {
    tx: payment.tx,
    kind: 'single',
    payment,
    quotes: [{ request, leg }],
  })
  return confirmation(receipt, !isNew)
}

export function confirmation(receipt: SignedReceipt, idempotent: boolean): Confirmation {
  const { receipt_id, paid_amount, paid_raw, pay_asset, network } = receipt
  return { ok: true, receipt_id, receipt, idempotent, paid_amount, paid_raw, pay_asset, network }
}

/** The gateway as a seller of storage. */
export function storageSeller(context: Context): Seller<PayRequest, { receipt: SignedReceipt }> {
  const { sales, config, log, now, continuity } = context
  const { db } = context.database
  return {
    sales,
    config,
    log,
    now,
    confirmUrl: confirmUrlOf(config.http),
    limitAnonymous: (wire) => limitAnonymous(context, wire, null),
    findQuote: (payReqId) => findPayRequest(db, payReqId),
    async findBought(payReqId) {
      const receipt = await findReceiptOfRequest(db, payReqId)
      return receipt && { receipt }
    },
    requireCurrent: () => continuity.requireCurrent(),
    recordRefused: (refused) => recordRefused(context, refused),
  }
}
