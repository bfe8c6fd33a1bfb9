import type { Db, RegistryEntryTable, Tx } from '../../db/schema.ts'

/** Replaces the entry of an older statement; leaves the entry of a newer one. */
export async function putEntry(tx: Tx, row: RegistryEntryTable): Promise<void> {
  await tx
    .insertInto('registry_entries')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('receipt_id').doUpdateSet(row).where('registry_entries.sequence', '<', row.sequence),
    )
    .execute()
}

export async function findEntry(db: Db, receiptId: string): Promise<RegistryEntryTable | null> {
  const row = await db.selectFrom('registry_entries').selectAll().where('receipt_id', '=', receiptId).executeTakeFirst()
  return row ?? null
}

/** The receipts whose entry is due but not yet written, the oldest first. */
export async function openEntries(db: Db, now: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('registry_entries')
    .select('receipt_id')
    .where('state', '!=', 'done')
    .where(({ eb, or }) => or([eb('deferred_until', 'is', null), eb('deferred_until', '<=', now)]))
    .orderBy('since')
    .limit(limit)
    .execute()
  return rows.map(({ receipt_id }) => receipt_id)
}

/** Entries whose transaction may still land, the oldest first. */
export function sentEntries(db: Db, limit: number): Promise<RegistryEntryTable[]> {
  const rows = db.selectFrom('registry_entries').selectAll().where('state', '=', 'sent')
  return rows.orderBy('since').limit(limit).execute()
}

type Version = Pick<RegistryEntryTable, 'receipt_id' | 'sequence' | 'tx'>
export type EntryChange = Partial<
  Pick<RegistryEntryTable, 'state' | 'tx' | 'raw' | 'block' | 'fee_wei' | 'error' | 'deferred_until'>
>

/** False if the entry has changed since it was read. */
export async function changeEntry(
  tx: Tx,
  { receipt_id, sequence, tx: sent }: Version,
  change: EntryChange,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('registry_entries')
    .set(change)
    .where('receipt_id', '=', receipt_id)
    .where('sequence', '=', sequence)
    .where('tx', sent === null ? 'is' : '=', sent)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
