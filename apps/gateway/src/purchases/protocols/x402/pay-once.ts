// The receipt of a payment that its payer has signed: settled now, or before.

import type { SignedReceipt } from '@svc/protocol/receipt'
import { findReceiptOfRequest } from '../../store.ts'
import { notSettled } from './errors.ts'
import type { Settled } from './finish-settlement.ts'
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
 * the payment that was settled, or another one that the payer signed (ADD-13).
 */
async function requirePayer(
  { database }: X402Context,
  { id, request, payload, leg }: SignedPayment,
  settler: Settler,
  { payer_pubkey }: SignedReceipt,
): Promise<void> {
  const settlement = await findSettlement(database.db, request.pay_req_id)
  if (settlement?.payment_id === id || (await settler.signer(payload, leg)) === payer_pubkey) return
  throw notSettled({ why: 'invalid', reason: 'quote_already_paid' }, leg)
}
