// A purchase that extends a locker (ADD-17). The receipt, the links and the statements of the locker stay as they are.

import { ServiceError } from '@svc/http-service/service-error'
import { lockerId } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { receiptIsRenewal } from '../auth/errors.ts'
import type { Locker, Tx } from '../db/schema.ts'
import { findPurchase, insertRenewal, lockLocker, updateLocker } from './store.ts'
import { extended, quotedTerms } from './terms.ts'

/**
 * Extends the locker that a new receipt names, in the transaction that writes the receipt. A receipt extends once: its
 * renewal has a row. It begins when it was paid, in Unix seconds.
 */
export async function renewLocker(tx: Tx, receipt: SignedReceipt, paidAt: number): Promise<void> {
  const { receipt_id, extends: of } = receipt
  if (of === undefined) return
  const purchase = await findPurchase(tx, receipt_id)
  if (!purchase) throw new Error(`the receipt ${receipt_id} has no quote`)
  const bought = quotedTerms(purchase)
  const locker_id = lockerId(of)
  await insertRenewal(tx, { receipt_id, locker_id, terms: JSON.stringify(bought), renewed_at: paidAt })
  const { terms, expires_at } = extended(await lockLocker(tx, locker_id), bought, paidAt)
  await updateLocker(tx, locker_id, { terms: JSON.stringify(terms), expires_at })
}

/** The locker that a receipt opened, for a quote that extends it. */
export function renewable(receipt: SignedReceipt, locker: Locker | null): Locker {
  if (receipt.extends !== undefined)
    throw receiptIsRenewal(receipt.extends, 'name the receipt that the locker was opened with, which is in details')
  if (locker) return locker
  throw new ServiceError('locker_not_found', 'this receipt has not opened its locker yet', {
    hint: 'its payer opens it with POST /v1/storage/signed_provision; then it can be renewed',
  })
}
