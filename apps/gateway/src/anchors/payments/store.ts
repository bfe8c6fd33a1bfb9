import type { Db, PaymentCodeTable } from '../../db/schema.ts'

/** Written once. */
export async function recordPaymentCode(
  db: Db,
  row: Pick<PaymentCodeTable, 'receipt_id' | 'att_code' | 'recorded_at'>,
): Promise<void> {
  await db
    .insertInto('payment_codes')
    .values(row)
    .onConflict((conflict) => conflict.column('receipt_id').doNothing())
    .execute()
}

export function findPaymentCode(db: Db, receiptId: string): Promise<PaymentCodeTable> {
  return db.selectFrom('payment_codes').selectAll().where('receipt_id', '=', receiptId).executeTakeFirstOrThrow()
}

type Sent = Pick<PaymentCodeTable, 'tx' | 'raw' | 'last_valid_height'>

/** Replaces the transaction that was lost, or none; false when another process was first. */
export async function notePaymentMemo(db: Db, receiptId: string, lost: string | null, sent: Sent): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('payment_codes')
    .set(sent)
    .where('receipt_id', '=', receiptId)
    .where('tx', lost === null ? 'is' : '=', lost)
    .where('slot', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function recordPaymentSlot(db: Db, receiptId: string, slot: number): Promise<void> {
  await db.updateTable('payment_codes').set({ slot }).where('receipt_id', '=', receiptId).execute()
}
