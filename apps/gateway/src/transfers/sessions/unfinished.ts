// What uploads of a locker have brought that are not finished. It is in no file and not counted as used, so it has a
// limit of its own: as much again as was bought (T-112).

import { ServiceError } from '@svc/http-service/service-error'
import { type Context, unixNow } from '../../context.ts'
import type { Db, Locker, Tx } from '../../db/schema.ts'
import { releasedBytes } from '../../files/object-store.ts'
import { requireFewReleased, tooMuchReleased } from '../../files/released.ts'
import { findLockerOf } from '../../files/store.ts'
import { lockLocker } from '../../lockers/store.ts'
import { capacityExceeded, termsOf } from '../../lockers/terms.ts'
import type { Session, SessionRow } from './store.ts'

/** Refuses bytes before they are read, where terms are enforced. It is decided again when they are recorded. */
export async function requireRoomForUnfinished(context: Context, locker_id: string, bytes: number): Promise<void> {
  const { db } = context.database
  if (!context.config.lockers.enforcesTerms) return
  const locker = await findLockerOf(db, { locker_id })
  if (!locker) return
  const { storage_limit_bytes } = termsOf(locker)
  if ((await unfinishedBytes(db, locker_id)) + bytes > storage_limit_bytes) throw capacityExceeded('unfinished')
  await requireFewReleased(context, db, locker)
}

/**
 * Reserves quota for bytes that an upload has brought, less where they are fewer, and for those that it gives up with
 * that. Returns the error, reserving nothing, when the quota is exceeded. It locks the locker, so that parts which are
 * recorded together keep to the limit (T-166). The caller holds the lock of the session, and refuses one that is
 * restricted: what lifts that locks its sessions.
 */
export async function takeUnfinished(
  tx: Tx,
  { config }: Context,
  { locker_id }: Session,
  bytes: number,
  givenUp = 0,
): Promise<ServiceError | null> {
  if (!config.lockers.enforcesTerms) return null
  const { storage_limit_bytes: limit } = termsOf(await lockLocker(tx, locker_id))
  if (bytes > 0 && bytes > limit - (await unfinishedBytes(tx, locker_id))) return capacityExceeded('unfinished')
  if (givenUp > 0 && (await releasedBytes(tx, locker_id)) > limit) return tooMuchReleased()
  return null
}

/**
 * Adds an upload under the lock of its locker, so that uploads which begin together keep to the limit: this many files
 * may be under way at a door. Null, with nothing changed, beyond it.
 */
export function addUnfinished<Added>(
  context: Context,
  { locker_id, door }: SessionRow,
  { files, most }: { files: number; most: number },
  add: (tx: Tx, locker: Locker) => Promise<Added>,
): Promise<Added | null> {
  return context.database.commit(async (tx) => {
    const locker = await lockLocker(tx, locker_id)
    const open = await countUnfinished(tx, locker_id, door, unixNow(context))
    return open + files > most ? null : add(tx, locker)
  })
}

/** Has no Retry-After: until they expire, only their clients finish or end them. */
export function tooManyUnfinished(most: number, how: { hint: string; next: string }): ServiceError {
  const hint = `finish or end some of them: ${how.hint}; the others expire within a day`
  return new ServiceError('RATE_LIMITED', `${most} unfinished uploads are as many as a locker may have`, {
    hint,
    details: { layer: 'gateway', recovery_hint: hint, next_best_method: how.next, reason: 'unfinished', limit: most },
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
    .select(({ fn, eb }) => fn.sum<number | null>(eb('f.received_bytes', '+', eb.ref('f.stray_bytes'))).as('bytes'))
    .where('s.locker_id', '=', lockerId)
    .where('s.closed_at', 'is', null)
    // What is stored is in a file, and counted there.
    .where('f.state', '!=', 'stored')
    .executeTakeFirstOrThrow()
  return bytes ?? 0
}
