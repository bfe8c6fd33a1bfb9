import { displayAmount } from '@svc/payments/amounts'
import type { ChainPayment } from '@svc/payments/payment'
import { isoSeconds } from '@svc/protocol/evidence'
import { receiptId } from '@svc/protocol/ids'
import { type SignedReceipt, signReceipt } from '@svc/protocol/receipt'
import { type Context, unixNow } from '../context.ts'
import type { QuotedLeg } from './paid-leg.ts'
import { paymentRefused } from './payment-errors.ts'
import { findReceiptOfRequest, insertPaymentTransaction, insertReceipt, type PayRequest } from './store.ts'

/**
 * Pending → paid, as one database transaction: the chain's transaction goes into the book, whole, and the receipt is
 * written. Of many who try at once, one writes; the others get what it wrote.
 */
export async function claimPayment(
  context: Context,
  request: PayRequest,
  leg: QuotedLeg,
  payment: ChainPayment,
): Promise<{ receipt: SignedReceipt; isNew: boolean }> {
  const receipt = newReceipt(context, request, leg, payment)
  const isNew = await writeClaim(context, receipt, leg, payment)
  if (isNew) return { receipt, isNew }
  const existing = await findReceiptOfRequest(context.database.db, request.pay_req_id)
  if (!existing) throw paymentRefused('transaction_already_used')
  return { receipt: existing, isNew }
}

class AlreadyPaid extends Error {}

/** False, with nothing changed, when the transaction or the quote is taken. */
async function writeClaim(
  context: Context,
  receipt: SignedReceipt,
  leg: QuotedLeg,
  payment: ChainPayment,
): Promise<boolean> {
  try {
    return await context.database.db.transaction().execute(async (tx) => {
      const isFree = await insertPaymentTransaction(tx, {
        network: leg.network.name,
        tx: payment.tx,
        kind: 'single',
        payer: receipt.payer_pubkey,
        received: String(payment.received),
        bound: String(leg.amount),
      })
      if (!isFree) return false
      // Another transaction paid this quote first: this one stays unused.
      if (!(await insertReceipt(tx, receipt))) throw new AlreadyPaid()
      return true
    })
  } catch (error) {
    if (error instanceof AlreadyPaid) return false
    throw error
  }
}

export function newReceipt(
  context: Context,
  request: PayRequest,
  leg: QuotedLeg,
  payment: ChainPayment,
): SignedReceipt {
  const { network } = leg
  return signReceipt(
    {
      receipt_id: receiptId(request.pay_req_id, payment.tx),
      pay_req_id: request.pay_req_id,
      paid_amount: displayAmount(leg.amount, leg.decimals),
      paid_raw: String(leg.amount),
      received_raw: String(payment.received),
      pay_asset: leg.ticker,
      network: network.name,
      ...(network.family === 'evm' ? { block_number: payment.height } : { slot: payment.height }),
      sig_alg: network.sigAlg,
      tx_hash: payment.tx,
      payer_pubkey: network.family === 'evm' ? payment.payer.toLowerCase() : payment.payer,
      units: request.units,
      confirmed_at: isoSeconds(unixNow(context)),
      result_hash: '',
    },
    context.signers.statement,
  )
}
