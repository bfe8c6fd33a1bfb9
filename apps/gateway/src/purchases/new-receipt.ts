// The signed receipt of a payment.

import type { Quote } from '@svc/api/purchases'
import type { ChainPayment } from '@svc/payments/payment'
import { toHex } from '@svc/protocol/bytes'
import { receiptId } from '@svc/protocol/ids'
import { receiptMessage, type SignedReceipt, signedReceipt } from '@svc/protocol/receipt'
import * as sales from '@svc/sales/new-receipt'
import type { QuotedLeg } from '@svc/sales/read-payment'
import { type Context, unixNow } from '../context.ts'
import { receiptHash } from '../continuity/entries.ts'
import { findLostReceipt, type PayRequest } from './store.ts'

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
