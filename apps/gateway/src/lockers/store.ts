import type { Kysely, Selectable } from 'kysely'
import type { LockerTable, Schema } from '../db/schema.ts'

type Db = Kysely<Schema>
export type Locker = Selectable<LockerTable>

export async function findLockerOfReceipt(db: Db, receiptId: string): Promise<Locker | null> {
  return (await db.selectFrom('lockers').selectAll().where('receipt_id', '=', receiptId).executeTakeFirst()) ?? null
}

/** False when the receipt has a locker already, or the id is another receipt's. */
export async function insertLocker(db: Db, locker: Locker): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('lockers')
    .values(locker)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

/** One more for an owner; false when he has as many as he may. Others who count for him wait until the transaction ends. */
export async function countLocker(db: Db, owner: string, maxPerOwner: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('owners')
    .values({ owner, locker_count: 1 })
    .onConflict((conflict) =>
      conflict
        .column('owner')
        .doUpdateSet((eb) => ({ locker_count: eb('owners.locker_count', '+', 1) }))
        .where('owners.locker_count', '<', maxPerOwner),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

export async function uncountLocker(db: Db, owner: string): Promise<void> {
  await db
    .updateTable('owners')
    .set((eb) => ({ locker_count: eb('locker_count', '-', 1) }))
    .where('owner', '=', owner)
    .execute()
}
