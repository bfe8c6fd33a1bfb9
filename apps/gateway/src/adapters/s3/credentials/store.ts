import { batch } from '@svc/concurrency/sharing'
import { inJsonRows, prepared } from '@svc/database/prepared'
import type { Db, Locker, S3KeyTable, Tx } from '../../../db/schema.ts'

export type FindKey = (accessKeyId: string) => Promise<S3KeyTable | null>

/** Concurrent requests share one query. */
export function createKeyFinder(db: Db): FindKey {
  return batch(async (ids: string[]) => {
    const { rows } = await keysById(db, JSON.stringify([...new Set(ids)].map((id) => [id])))
    const found = new Map(rows.map((row) => [row.access_key_id, row]))
    return ids.map((id) => found.get(id) ?? null)
  })
}

const keysById = prepared((db: Db, ids: string) =>
  db
    .selectFrom('s3_keys')
    .selectAll()
    .where(inJsonRows(db, 'access_key_id', ids)),
)

/** Unexpired keys, oldest first. */
export function keysOfLocker(db: Db, lockerId: string, now: number): Promise<S3KeyTable[]> {
  return db
    .selectFrom('s3_keys')
    .selectAll()
    .where('locker_id', '=', lockerId)
    .where('expires_at', '>', now)
    .orderBy('created_at')
    .orderBy('access_key_id')
    .execute()
}

/** The caller holds the lock of the locker. Deletes the keys that no longer work. */
export async function countWorkingKeys(tx: Tx, locker: Locker, now: number): Promise<number> {
  const { locker_id, revoked_before } = locker
  await tx
    .deleteFrom('s3_keys')
    .where('locker_id', '=', locker_id)
    .where((eb) => eb.or([eb('expires_at', '<=', now), eb('minted_epoch', '<', revoked_before)]))
    .execute()
  const { count } = await tx
    .selectFrom('s3_keys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('locker_id', '=', locker_id)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The keys of a wallet, like `keysOfLocker`. */
export function keysOfWallet(db: Db, wallet: string, now: number): Promise<S3KeyTable[]> {
  return db
    .selectFrom('s3_keys')
    .selectAll()
    .where('locker_id', '=', '')
    .where('minted_by', '=', wallet)
    .where('expires_at', '>', now)
    .orderBy('created_at')
    .orderBy('access_key_id')
    .execute()
}

export async function insertKey(tx: Tx, key: S3KeyTable): Promise<void> {
  await tx.insertInto('s3_keys').values(key).execute()
}

/** Does nothing when a use after `before` is recorded. */
export async function recordLastUse(tx: Tx, accessKeyId: string, now: number, before: number): Promise<void> {
  await tx
    .updateTable('s3_keys')
    .set({ last_used_at: now })
    .where('access_key_id', '=', accessKeyId)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', before)]))
    .execute()
}

/** Returns how many it deleted, `limit` at most. */
export async function deleteExpiredKeys(tx: Tx, now: number, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('s3_keys')
    .where('access_key_id', 'in', (eb) =>
      eb.selectFrom('s3_keys').select('access_key_id').where('expires_at', '<=', now).limit(limit),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
