// Restores purchases: receipts with their quotes and payments, refunds, and opened lockers.

import { paymentAttCode } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Context, unixNow } from '../../../context.ts'
import type {
  LockerDocument,
  ReceiptDocument,
  RefundDocument,
  UnclaimedDocument,
} from '../../../continuity/documents.ts'
import { hasRefund } from '../../../continuity/store.ts'
import type { PaymentTransactionTable, Tx } from '../../../db/schema.ts'
import { countLocker, findLocker, insertLocker } from '../../../lockers/store.ts'
import { recordPaymentCode } from '../../../publication/store.ts'
import { renewLocker } from '../../../purchases/renewal.ts'
import {
  findReceiptOfRequest,
  insertPaymentTransaction,
  insertReceipt,
  lockPaymentTransaction,
  updatePaymentTransaction,
} from '../../../purchases/store.ts'
import { recordOverpaid } from '../../../purchases/unclaimed/record-payment.ts'
import { insertUnclaimed } from '../../../purchases/unclaimed/store.ts'
import type { Restored } from './restored.ts'

/** The locker already existed, so its number does not count against the limit. */
const ANY_NUMBER = 1_000_000_000

export async function restoreReceipt(context: Context, tx: Tx, document: ReceiptDocument): Promise<Restored> {
  const { key, receipt: row, quote, template, payment, authorizations, renewal } = document
  const receipt = JSON.parse(row.receipt) as SignedReceipt
  const paid = await findReceiptOfRequest(tx, row.pay_req_id)
  if (paid)
    return paid.receipt_id === key ? 'known' : { problem: `the quote that ${row.tx} has paid has another receipt` }
  if (renewal && !(await findLocker(tx, renewal.locker_id)))
    return { problem: `${row.tx} has paid for a renewal of ${renewal.locker_id}, which is not in this database` }
  if (template)
    await tx
      .insertInto('quote_templates')
      .values(template)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
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
  if (payment) await recordOverpaid(tx, receipt, BigInt(payment.bound))
  if (renewal) await renewLocker(tx, receipt, renewal.renewed_at)
  // Its memo may be on chain, so it is not sent again.
  const att_code = paymentAttCode(receipt)
  await recordPaymentCode(tx, { receipt_id: key, att_code, recorded_at: unixNow(context) })
  return 'written'
}

/** Sums only grow: the larger ones are later. */
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

export async function restoreRefund(tx: Tx, { refund, payment }: RefundDocument): Promise<Restored> {
  await restorePayment(tx, payment)
  if (await hasRefund(tx, refund)) return 'known'
  await tx
    .insertInto('refunds')
    .values(refund)
    .onConflict((conflict) =>
      conflict
        .columns(['network', 'tx', 'position'])
        // A refund that was sent stays sent.
        .doUpdateSet((eb) => ({ refund_tx: eb.fn.coalesce('refunds.refund_tx', 'excluded.refund_tx') })),
    )
    .execute()
  return 'written'
}

export async function restoreUnclaimed(tx: Tx, { unclaimed }: UnclaimedDocument): Promise<Restored> {
  return (await insertUnclaimed(tx, unclaimed)) ? 'written' : 'known'
}

/** Without files: their rows, which locate the stored bytes, are lost with the database. */
export async function restoreLocker(tx: Tx, { key, locker }: LockerDocument): Promise<Restored> {
  if (await findLocker(tx, key)) return 'known'
  if (!(await insertLocker(tx, { ...locker, ...EMPTY }))) return { problem: `the receipt of ${key} has another locker` }
  await countLocker(tx, locker.owner, ANY_NUMBER)
  return 'written'
}

const EMPTY = { manifest_version: 0, manifest_changed_at: null, file_count: 0, total_bytes: 0, unconfirmed_bytes: 0 }
