// Purchases that extend a locker (ADD-17): their quotes, and their effect once paid. Anyone who knows the locker's
// receipt may pay, because it only benefits. The receipt, the links and the statements of the locker stay unchanged.

import type { Quote, Renewal } from '@svc/api/purchases'
import { lockerId } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import { receiptIsRenewal, receiptNotFound } from '../auth/errors.ts'
import { requireWritable } from '../auth/restrictions.ts'
import { findReceiptAndLocker } from '../auth/store.ts'
import type { Context } from '../context.ts'
import type { Locker, Tx } from '../db/schema.ts'
import { findPurchase, insertRenewal, lockLocker, updateLocker } from '../lockers/store.ts'
import { extended, quotedTerms } from '../lockers/terms.ts'
import type { Order } from './prices.ts'

export interface RenewalOrder extends Order {
  extends: string
}

export function isRenewal(order: Order & { extends?: string }): order is RenewalOrder {
  return order.extends !== undefined
}

export async function findRenewed({ database }: Context, order: RenewalOrder): Promise<Locker> {
  const found = await findReceiptAndLocker(database.db, order.extends)
  if (!found) throw receiptNotFound()
  const locker = renewable(found.receipt, found.locker)
  requireWritable(locker)
  if (order.provider === undefined || order.provider === locker.provider) return locker
  throw new ValidationError({ loc: ['body', 'provider'], msg: `the locker is at ${locker.provider}: omit this field` })
}

/** The locker of a receipt, for a quote that extends it. */
function renewable(receipt: SignedReceipt, locker: Locker | null): Locker {
  if (receipt.extends !== undefined)
    throw receiptIsRenewal(receipt.extends, 'use the original receipt of the locker, which is in details')
  if (locker) return locker
  throw new ServiceError('locker_not_found', 'the locker of this receipt is not open yet', {
    hint: 'its payer must open it with POST /v1/storage/signed_provision before it can be renewed',
  })
}

/** A locker may be restricted after its renewal was quoted: then nothing is sold to it (T-165). */
export async function requireForSale({ database }: Context, { extensions }: Quote): Promise<void> {
  const { renewal } = extensions.svc
  const found = renewal && (await findReceiptAndLocker(database.db, renewal.receipt_id))
  if (found?.locker) requireWritable(found.locker)
}

/**
 * The locker's terms after the renewal; exact for a payment at this moment. They include the end of the locker and the
 * total that was bought, but never its usage (T-57).
 */
export function renewalOf(locker: Locker, bought: Parameters<typeof extended>[1], now: number): Renewal {
  const { terms, expires_at } = extended(locker, bought, now)
  const { storage_limit_bytes, file_limit, egress_included_bytes } = terms
  const { receipt_id, locker_id } = locker
  return { receipt_id, locker_id, storage_limit_bytes, file_limit, egress_included_bytes, expires_at }
}

/**
 * Extends the locker of a new receipt, in the transaction that writes the receipt. A receipt extends only once: its
 * renewal has a row. The renewal begins at the time of payment, in Unix seconds.
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
