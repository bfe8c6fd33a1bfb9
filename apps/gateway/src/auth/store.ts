import { inJsonRows, prepared } from '@svc/database/prepared'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Db, Locker } from '../db/schema.ts'

/** In no particular order. */
export async function findLockers(db: Db, lockerIds: readonly string[]): Promise<Locker[]> {
  return (await lockersNamed(db, JSON.stringify(lockerIds.map((id) => [id])))).rows
}

const lockersNamed = prepared((db: Db, json: string) =>
  db
    .selectFrom('lockers')
    .selectAll()
    .where(inJsonRows(db, 'locker_id', json)),
)

/** A receipt, and its locker where there is one. */
export async function findReceiptAndLocker(
  db: Db,
  receiptId: string,
): Promise<{ receipt: SignedReceipt; locker: Locker | null } | null> {
  const [row] = (await receiptNamed(db, receiptId)).rows
  if (!row) return null
  const [locker] = (await lockerOfReceipt(db, receiptId)).rows
  return { receipt: JSON.parse(row.receipt), locker: locker ?? null }
}

const receiptNamed = prepared((db: Db, receiptId: string) =>
  db.selectFrom('receipts').select('receipt').where('receipt_id', '=', receiptId),
)

const lockerOfReceipt = prepared((db: Db, receiptId: string) =>
  db.selectFrom('lockers').selectAll().where('receipt_id', '=', receiptId),
)
