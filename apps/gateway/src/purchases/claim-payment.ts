import type { ChainPayment } from '@svc/payments/payment'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { paymentRefused } from '@svc/sales/errors'
import * as sales from '@svc/sales/new-receipt'
import type { QuotedLeg } from '@svc/sales/paid-leg'
import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../context.ts'
import type { PaymentTransactionTable, Schema } from '../db/schema.ts'
import {
  deletePaymentTransaction,
  findReceiptOfRequest,
  insertPaymentTransaction,
  insertReceipt,
  lockPaymentTransaction,
  type PayRequest,
  setBound,
} from './store.ts'

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
  return context.database.db.transaction().execute(async (tx) => {
    const [written] = await bookReceipts(tx, 'single', [receipt])
    if (written) {
      await context.queue.enqueue(tx, 'attest-payment', { receipt_id: receipt.receipt_id })
      return { receipt, isNew: true }
    }
    const existing = await findReceiptOfRequest(tx, request.pay_req_id)
    if (!existing) throw paymentRefused('transaction_already_used')
    return { receipt: existing, isNew: false }
  })
}

/**
 * Writes the receipts of one transaction of the chain, and tells which are new: not those whose quote has a receipt
 * already, and none where the transaction is taken. A plain purchase takes it whole; batches share it out for as long
 * as it reaches (T-01).
 */
export async function bookReceipts(
  tx: Transaction<Schema>,
  kind: 'single' | 'batch',
  receipts: readonly SignedReceipt[],
): Promise<SignedReceipt[]> {
  const [first] = receipts
  const entry = first ? await openEntry(tx, kind, first) : null
  if (!entry) return []
  const written: SignedReceipt[] = []
  // In one order everywhere: batches that have quotes in common would else wait for each other.
  for (const receipt of receipts.toSorted((a, b) => (a.pay_req_id < b.pay_req_id ? -1 : 1))) {
    if (await insertReceipt(tx, receipt)) written.push(receipt)
  }
  const bound = written.reduce((sum, { paid_raw }) => sum + BigInt(paid_raw), BigInt(entry.bound))
  if (bound > BigInt(entry.received)) throw paymentRefused('amount_too_small')
  // Other transactions paid all of these quotes first: this one stays unused.
  await (bound === 0n ? deletePaymentTransaction(tx, entry) : setBound(tx, entry, String(bound)))
  return written
}

/** The line of a transaction in the book, held for the rest of the database transaction; null when it is taken. */
async function openEntry(
  tx: Transaction<Schema>,
  kind: 'single' | 'batch',
  receipt: SignedReceipt,
): Promise<PaymentTransactionTable | null> {
  const entry = {
    network: receipt.network,
    tx: receipt.tx_hash,
    kind,
    payer: receipt.payer_pubkey,
    asset: receipt.pay_asset,
    received: receipt.received_raw ?? receipt.paid_raw,
    bound: '0',
  }
  if (await insertPaymentTransaction(tx, entry)) return entry
  if (kind === 'single') return null
  const known = await lockPaymentTransaction(tx, entry)
  // The same amount of the same asset: what came to another address has not been counted here.
  const isSame = known.kind === 'batch' && known.asset === entry.asset && known.received === entry.received
  return isSame ? known : null
}

export function newReceipt(
  context: Context,
  { pay_req_id: payReqId, units }: PayRequest,
  leg: QuotedLeg,
  payment: ChainPayment,
): SignedReceipt {
  return sales.newReceipt({ payReqId, units, leg, payment, confirmedAt: unixNow(context) }, context.signers.statement)
}
