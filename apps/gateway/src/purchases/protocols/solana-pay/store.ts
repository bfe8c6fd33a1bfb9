import type { Db, Tx, WatchedQuoteTable } from '../../../db/schema.ts'

export async function findWatch(db: Db, payReqId: string): Promise<WatchedQuoteTable | null> {
  const query = db.selectFrom('watched_quotes').selectAll().where('pay_req_id', '=', payReqId)
  return (await query.executeTakeFirst()) ?? null
}

export async function countWatches(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('watched_quotes')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** A quote that is already watched stays unchanged. */
export async function insertWatch(
  tx: Tx,
  watch: Pick<WatchedQuoteTable, 'pay_req_id' | 'watched_at' | 'watched_until' | 'due_at'>,
): Promise<void> {
  await tx
    .insertInto('watched_quotes')
    .values({ ...watch, looked_at: null, passed_tx: null, tx: null, asset: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Most overdue first. */
export function dueWatches(db: Db, now: number, limit: number): Promise<WatchedQuoteTable[]> {
  return db.selectFrom('watched_quotes').selectAll().where('due_at', '<=', now).orderBy('due_at').limit(limit).execute()
}

/** When the next watch is due; null for none. */
export async function nextDue(db: Db): Promise<number | null> {
  const { due_at } = await db
    .selectFrom('watched_quotes')
    .select(({ fn }) => fn.min<number | null>('due_at').as('due_at'))
    .executeTakeFirstOrThrow()
  return due_at
}

/** False when another process checks it. */
export async function beginCheck(
  tx: Tx,
  { pay_req_id, due_at }: WatchedQuoteTable,
  next: { due_at: number; looked_at: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('watched_quotes')
    .set(next)
    .where('pay_req_id', '=', pay_req_id)
    .where('due_at', '=', due_at)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function recordCheck(
  tx: Tx,
  payReqId: string,
  seen: Partial<Pick<WatchedQuoteTable, 'due_at' | 'passed_tx' | 'tx' | 'asset'>>,
): Promise<void> {
  await tx.updateTable('watched_quotes').set(seen).where('pay_req_id', '=', payReqId).execute()
}

export async function deleteWatch(tx: Tx, payReqId: string): Promise<void> {
  await tx.deleteFrom('watched_quotes').where('pay_req_id', '=', payReqId).execute()
}

export async function deleteEndedWatches(tx: Tx, now: number): Promise<void> {
  await tx.deleteFrom('watched_quotes').where('watched_until', '<', now).execute()
}
