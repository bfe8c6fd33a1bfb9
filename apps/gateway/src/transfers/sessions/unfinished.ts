// What uploads of a locker have brought that are not finished. It is in no file and not counted as used, so it has a
// limit of its own: as much again as was bought (T-112).

import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../../context.ts'
import type { Db, Schema } from '../../db/schema.ts'
import { findLockerOf } from '../../files/store.ts'
import { lockLocker } from '../../lockers/store.ts'
import { capacityExceeded, termsOf } from '../../lockers/terms.ts'
import type { SessionRow } from './store.ts'

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

/**
 * Adds an upload under the lock of its locker, so that uploads which begin together keep to the limit: this many files
 * may be under way at a door. Null, with nothing changed, beyond it.
 */
export function addUnfinished<Added>(
  context: Context,
  { locker_id, door }: SessionRow,
  { files, most }: { files: number; most: number },
  add: (tx: Transaction<Schema>) => Promise<Added>,
): Promise<Added | null> {
  return context.database.db.transaction().execute(async (tx) => {
    await lockLocker(tx, locker_id)
    const open = await countUnfinished(tx, locker_id, door, unixNow(context))
    return open + files > most ? null : add(tx)
  })
}

async function countUnfinished(db: Db, lockerId: string, door: SessionRow['door'], now: number): Promise<number> {
  const { count } = await db
    .selectFrom('upload_sessions as s')
    .leftJoin('upload_session_files as f', (join) =>
      join.onRef('f.session_id', '=', 's.session_id').on('f.state', '!=', 'stored'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('s.locker_id', '=', lockerId)
    .where('s.closed_at', 'is', null)
    .where('s.door', door === null ? 'is' : '=', door)
    .where('s.expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return count
}

async function unfinishedBytes(db: Db, lockerId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('upload_sessions as s')
    .innerJoin('upload_session_files as f', 'f.session_id', 's.session_id')
    .select(({ fn }) => fn.sum<number | null>('f.received_bytes').as('bytes'))
    .where('s.locker_id', '=', lockerId)
    .where('s.closed_at', 'is', null)
    // What is stored is in a file, and counted there.
    .where('f.state', '!=', 'stored')
    .executeTakeFirstOrThrow()
  return bytes ?? 0
}
