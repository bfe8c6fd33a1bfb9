// What uploads of a locker have brought that are not finished. It is in no file and not counted as used, so it has a
// limit of its own: as much again as was bought (T-112).

import type { Context } from '../../context.ts'
import type { Db } from '../../db/schema.ts'
import { findLockerOf } from '../../files/store.ts'
import { capacityExceeded, termsOf } from '../../lockers/terms.ts'

/** Refuses bytes before they are read, where terms are enforced. Of uploads at the same time, each may bring one part more. */
export async function requireRoomForUnfinished(
  { config, database: { db } }: Context,
  locker_id: string,
  bytes: number,
): Promise<void> {
  if (!config.lockers.enforcesTerms) return
  const locker = await findLockerOf(db, { locker_id })
  if (!locker) return
  const { storage_limit_bytes } = termsOf(locker)
  if ((await unfinishedBytes(db, locker_id)) + bytes > storage_limit_bytes) throw capacityExceeded('unfinished')
}

/** How many uploads of a locker are under way at a door. */
export async function countUnfinished(db: Db, lockerId: string, door: 's3' | 'tus', now: number): Promise<number> {
  const { count } = await db
    .selectFrom('upload_sessions')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('locker_id', '=', lockerId)
    .where('closed_at', 'is', null)
    .where('door', '=', door)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Of doors whose uploads have one file each. */
async function unfinishedBytes(db: Db, lockerId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('upload_sessions as s')
    .innerJoin('upload_session_files as f', 'f.session_id', 's.session_id')
    .select(({ fn }) => fn.sum<number | string | null>('f.received_bytes').as('bytes'))
    .where('s.locker_id', '=', lockerId)
    .where('s.closed_at', 'is', null)
    .where('s.door', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(bytes ?? 0)
}
