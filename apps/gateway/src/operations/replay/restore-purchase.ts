// Puts purchases back: receipts with their quotes and payments, refunds, and the lockers that were opened.

import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../../context.ts'
import type { LockerDocument, ReceiptDocument, RefundDocument, UnclaimedDocument } from '../../continuity/documents.ts'
import type { PaymentTransactionTable, Tx } from '../../db/schema.ts'
import { countLocker, findLocker, insertLocker } from '../../lockers/store.ts'
import { renewLocker } from '../../purchases/renewal.ts'
import {
  findReceiptOfRequest,
  insertPaymentTransaction,
  insertReceipt,
  lockPaymentTransaction,
  updatePaymentTransaction,
} from '../../purchases/store.ts'
import { noteOverpaid } from '../../purchases/unclaimed/note-payment.ts'
import { insertUnclaimed } from '../../purchases/unclaimed/store.ts'

/** The locker was there before. */
const ANY_NUMBER = 1_000_000_000

/** Null where it is in the database then; a sentence where it cannot be. */
export async function restoreReceipt(context: Context, tx: Tx, document: ReceiptDocument): Promise<string | null> {
  const { key, receipt: row, quote, payment, authorizations, renewal } = document
  const receipt = JSON.parse(row.receipt) as SignedReceipt
  const paid = await findReceiptOfRequest(tx, row.pay_req_id)
  if (paid) return paid.receipt_id === key ? null : `the quote of the receipt ${key} has another receipt`
  if (renewal && !(await findLocker(tx, renewal.locker_id)))
    return `the receipt ${key} renews ${renewal.locker_id}, which is not in this database`
  if (quote)
    await tx
      .insertInto('pay_requests')
      .values(quote)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  if (payment) await restorePayment(tx, payment)
  if (authorizations.length > 0)
    await tx
      .insertInto('payment_authorizations')
      .values(authorizations)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  await insertReceipt(tx, receipt)
  if (payment) await noteOverpaid(tx, receipt, BigInt(payment.bound))
  if (renewal) await renewLocker(tx, receipt, renewal.renewed_at)
  await context.queue.enqueue(tx, 'attest-payment', { receipt_id: key })
  return null
}

/** Sums only grow: the larger ones are the later ones. */
async function restorePayment(tx: Tx, payment: PaymentTransactionTable): Promise<void> {
  if (await insertPaymentTransaction(tx, payment)) return
  const known = await lockPaymentTransaction(tx, payment)
  const larger = (a: string, b: string) => (BigInt(a) > BigInt(b) ? a : b)
  await updatePaymentTransaction(tx, {
    ...payment,
    received: larger(known.received, payment.received),
    bound: larger(known.bound, payment.bound),
  })
}

export async function restoreRefund(tx: Tx, { refund, payment }: RefundDocument): Promise<null> {
  await restorePayment(tx, payment)
  await tx
    .insertInto('refunds')
    .values(refund)
    .onConflict((conflict) =>
      conflict
        .columns(['network', 'tx', 'position'])
        // One that was sent stays so.
        .doUpdateSet((eb) => ({ refund_tx: eb.fn.coalesce('refunds.refund_tx', 'excluded.refund_tx') })),
    )
    .execute()
  return null
}

export async function restoreUnclaimed(tx: Tx, { unclaimed }: UnclaimedDocument): Promise<null> {
  await insertUnclaimed(tx, unclaimed)
  return null
}

/** Without its files: what is stored is known by their rows, which are lost with the database. */
export async function restoreLocker(tx: Tx, { key, locker }: LockerDocument): Promise<string | null> {
  if (await findLocker(tx, key)) return null
  if (!(await insertLocker(tx, { ...locker, ...EMPTY }))) return `the receipt of ${key} has another locker`
  await countLocker(tx, locker.owner, ANY_NUMBER)
  return null
}

const EMPTY = { manifest_version: 0, manifest_changed_at: null, file_count: 0, total_bytes: 0, unconfirmed_bytes: 0 }
