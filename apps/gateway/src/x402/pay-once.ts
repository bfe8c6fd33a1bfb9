// The receipt of a payment that its payer has signed: settled now, or before.

import type { SignedReceipt } from '@svc/protocol/receipt'
import { findReceiptOfRequest } from '../purchases/store.ts'
import { notSettled } from './errors.ts'
import { finishSettlement, isSettled, type Settled } from './finish-settlement.ts'
import type { X402Context } from './room.ts'
import { settlePayment } from './settle.ts'
import type { Settler, SignedPayment } from './settler.ts'
import { findSettlement } from './store.ts'

export async function payOnce(context: X402Context, payment: SignedPayment, settler: Settler): Promise<Settled> {
  const existing = await findReceiptOfRequest(context.database.db, payment.request.pay_req_id)
  const settled = existing ? { receipt: existing, isNew: false } : await settlePayment(context, payment)
  await requirePayer(context, payment, settler, settled.receipt)
  await context.continuity.requireWritten({ kind: 'receipt', key: settled.receipt.receipt_id })
  return settled
}

/**
 * Somebody else may have paid the quote, or the settlement that was resumed may be theirs. The receipt is for who sends
 * the payment that was settled, or another one that the payer signed (ADD-13). Where this payment was sent as well, it is
 * a second one of the quote: what became of it is found out first, and what it has paid is noted for refund.
 */
async function requirePayer(
  context: X402Context,
  { id, request, payload, leg }: SignedPayment,
  settler: Settler,
  { payer_pubkey, tx_hash }: SignedReceipt,
): Promise<void> {
  const settlement = await findSettlement(context.database.db, request.pay_req_id)
  const isSent = settlement?.payment_id === id
  if ((isSent && settlement.tx === tx_hash) || (await settler.signer(payload, leg)) === payer_pubkey) return
  if (isSent && isSettled(await finishSettlement(context, request, settlement))) return
  throw notSettled({ why: 'invalid', reason: 'quote_already_paid' }, leg)
}
