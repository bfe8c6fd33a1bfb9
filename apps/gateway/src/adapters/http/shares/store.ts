import { prepared } from '@svc/database/prepared'
import type { Db, ShareTable, Tx } from '../../../db/schema.ts'

export async function findShare(db: Db, seed: string): Promise<ShareTable | null> {
  return (await selectShare(db, seed)).rows[0] ?? null
}

const selectShare = prepared((db: Db, seed: string) => db.selectFrom('shares').selectAll().where('seed', '=', seed))

/** All of a locker, oldest first, including those that have ended. */
export function sharesOfLocker(db: Db, lockerId: string): Promise<ShareTable[]> {
  return db
    .selectFrom('shares')
    .selectAll()
    .where('locker_id', '=', lockerId)
    .orderBy('created_at')
    .orderBy('seed')
    .execute()
}

/** Does nothing if the share exists, as when a change is replayed. */
export async function insertShare(tx: Tx, share: ShareTable): Promise<void> {
  await tx
    .insertInto('shares')
    .values(share)
    .onConflict((conflict) => conflict.column('seed').doNothing())
    .execute()
}

/** False when the locker has no such share. */
export async function deleteShare(tx: Tx, lockerId: string, seed: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('shares')
    .where('seed', '=', seed)
    .where('locker_id', '=', lockerId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Shares of one locker, of which there are few. */
export async function deleteShares(tx: Tx, shares: readonly Pick<ShareTable, 'seed'>[]): Promise<void> {
  if (shares.length === 0) return
  const seeds = shares.map(({ seed }) => seed)
  await tx.deleteFrom('shares').where('seed', 'in', seeds).execute()
}

/** Does nothing when a use after `before` is recorded. */
export async function recordLastUse(tx: Tx, seed: string, now: number, before: number): Promise<void> {
  await tx
    .updateTable('shares')
    .set({ last_used_at: now })
    .where('seed', '=', seed)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', before)]))
    .execute()
}

/** Returns how many it deleted, `limit` at most. */
export async function deleteExpiredShares(tx: Tx, now: number, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('shares')
    .where('seed', 'in', (eb) => eb.selectFrom('shares').select('seed').where('expires_at', '<=', now).limit(limit))
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
