import { batch } from '@svc/concurrency/sharing'
import { inJsonRows, prepared } from '@svc/database/prepared'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Db, Locker } from '../db/schema.ts'

export type FindLocker = (lockerId: string) => Promise<Locker | null>

/** Concurrent requests share a query. */
export function createLockerFinder(db: Db): FindLocker {
  return batch(async (ids: string[]) => {
    const found = new Map((await findLockers(db, [...new Set(ids)])).map((locker) => [locker.locker_id, locker]))
    return ids.map((id) => found.get(id) ?? null)
  })
}

/** In no particular order. */
async function findLockers(db: Db, lockerIds: readonly string[]): Promise<Locker[]> {
  return (await lockersNamed(db, JSON.stringify(lockerIds.map((id) => [id])))).rows
}

const lockersNamed = prepared((db: Db, json: string) =>
  db
    .selectFrom('lockers')
    .selectAll()
    .where(inJsonRows(db, 'locker_id', json)),
)

/** A receipt, and its locker if it has one. */
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
