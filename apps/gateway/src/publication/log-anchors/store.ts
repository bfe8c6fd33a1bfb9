import type { Db, LogAnchorTable, LogCheckpointTable, Tx } from '../../db/schema.ts'
import { anchorMayBeGood, type SizeRange } from '../log/store.ts'

/** Oldest first; at most one is `sent`. */
export function logAnchorsIn(db: Db, state: 'sent' | 'landed', limit: number): Promise<LogAnchorTable[]> {
  return db.selectFrom('log_anchors').selectAll().where('state', '=', state).orderBy('size').limit(limit).execute()
}

export async function findLogAnchor(db: Db, signature: string): Promise<LogAnchorTable | null> {
  return (await db.selectFrom('log_anchors').selectAll().where('tx', '=', signature).executeTakeFirst()) ?? null
}

/** The newest anchor that may be valid. */
export async function newestLogAnchor(db: Db): Promise<LogAnchorTable | null> {
  const row = db.selectFrom('log_anchors').selectAll().where(anchorMayBeGood).orderBy('size', 'desc').limit(1)
  return (await row.executeTakeFirst()) ?? null
}

/** The anchors on chain, newest first. `before`: a size. */
export function pageOfLogAnchors(db: Db, before: number, limit: number): Promise<LogAnchorTable[]> {
  return db
    .selectFrom('log_anchors')
    .selectAll()
    .where(anchorMayBeGood)
    .where('state', 'in', ['landed', 'finalized'])
    .where('size', '<', before)
    .orderBy('size', 'desc')
    .limit(limit)
    .execute()
}

/** False, without a write, if a transaction is open or the checkpoint is already published. */
export async function insertLogAnchor(tx: Tx, row: LogAnchorTable): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('log_anchors')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** For an anchor that was inserted in the same transaction. */
export async function deleteLogAnchor(tx: Tx, signature: string): Promise<void> {
  await tx.deleteFrom('log_anchors').where('tx', '=', signature).execute()
}

type Change = Pick<LogAnchorTable, 'state'> & Partial<Pick<LogAnchorTable, 'slot' | 'block_time' | 'fee_lamports'>>

/** False if the state has changed since it was read. */
export async function changeLogAnchor(
  tx: Tx,
  { tx: signature, state }: Pick<LogAnchorTable, 'tx' | 'state'>,
  change: Change,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('log_anchors')
    .set(change)
    .where('tx', '=', signature)
    .where('state', '=', state)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function oldestCheckpointIn(db: Db, { above, upTo }: SizeRange): Promise<LogCheckpointTable | null> {
  const row = db
    .selectFrom('log_checkpoints')
    .selectAll()
    .where('size', '>', above)
    .where('size', '<=', upTo)
    .orderBy('size')
    .limit(1)
  return (await row.executeTakeFirst()) ?? null
}

/** The position of a statement in the log; null while it has none. */
export async function findPosition(
  db: Db,
  { receipt_id, sequence }: { receipt_id: string; sequence: number },
): Promise<number | null> {
  const row = await db
    .selectFrom('statements as s')
    .innerJoin('log_entries as e', 'e.statement_digest', 's.statement_digest')
    .select('e.entry_index')
    .where('s.receipt_id', '=', receipt_id)
    .where('s.sequence', '=', sequence)
    .executeTakeFirst()
  return row?.entry_index ?? null
}
