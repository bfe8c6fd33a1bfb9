// The signed receipt of a payment.

import type { Quote } from '@svc/api/purchases'
import type { ChainPayment } from '@svc/payments/payment'
import * as sales from '@svc/payments/selling/new-receipt'
import type { QuotedLeg } from '@svc/payments/selling/read-payment'
import { toHex } from '@svc/protocol/bytes'
import { receiptMessage, type SignedReceipt, signedReceipt } from '@svc/protocol/receipt'
import { type Context, unixNow } from '../context.ts'
import type { PayRequest } from './store.ts'

export async function newReceipt(
  context: Context,
  { pay_req_id: payReqId, units, quote }: PayRequest,
  leg: QuotedLeg,
  payment: ChainPayment,
): Promise<SignedReceipt> {
  const { renewal } = (JSON.parse(quote) as Quote).extensions.svc
  const goods = renewal ? { extends: renewal.receipt_id } : { proofId: toHex(context.randomBytes(16)) }
  const key = await context.statementKeys.current()
  const receipt = sales.newReceipt({ payReqId, units, leg, payment, ...goods, confirmedAt: unixNow(context) })
  return signedReceipt(receipt, key.publicKey, await key.sign(receiptMessage(receipt)))
}
