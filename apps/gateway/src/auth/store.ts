import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Db, Locker } from '../db/schema.ts'

/** In no particular order. */
export function findLockers(db: Db, lockerIds: readonly string[]): Promise<Locker[]> {
  return db.selectFrom('lockers').selectAll().where('locker_id', 'in', lockerIds).execute()
}

/** A receipt, and its locker where there is one. */
export async function findReceiptAndLocker(
  db: Db,
  receiptId: string,
): Promise<{ receipt: SignedReceipt; locker: Locker | null } | null> {
  const row = await db.selectFrom('receipts').select('receipt').where('receipt_id', '=', receiptId).executeTakeFirst()
  if (!row) return null
  const locker = await db.selectFrom('lockers').selectAll().where('receipt_id', '=', receiptId).executeTakeFirst()
  return { receipt: JSON.parse(row.receipt), locker: locker ?? null }
}
