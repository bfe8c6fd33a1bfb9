import type { Transaction } from 'kysely'
import type { AttestationTable, Db, Schema } from '../../db/schema.ts'

export async function hasReceipt(db: Db, receiptId: string): Promise<boolean> {
  const row = await db
    .selectFrom('receipts')
    .select('receipt_id')
    .where('receipt_id', '=', receiptId)
    .executeTakeFirst()
  return row !== undefined
}

export async function readBorderKey(db: Db): Promise<string> {
  return (await db.selectFrom('snapshot_border_key').select('border_key').executeTakeFirstOrThrow()).border_key
}

/** False when there is one for the receipt already. */
export async function insertAttestation(tx: Transaction<Schema>, row: AttestationTable): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('attestations')
    .values(row)
    .onConflict((conflict) => conflict.column('receipt_id').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}
