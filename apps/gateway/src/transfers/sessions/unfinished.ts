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
 * Takes room for bytes that an upload has brought, which may be less than none, and for those that it gives up with that.
 * Why not, with nothing taken, beyond it.
 */
export type TakeUnfinished = (session: Session, bytes: number, givenUp?: number) => ServiceError | null

/**
 * Under the locks of the lockers, so that parts which are recorded together keep to the limit (T-166). The caller holds
 * those of the sessions. A locker that is restricted takes nothing, and is not locked: what lifts that locks its sessions.
 */
export async function lockUnfinished(
  tx: Tx,
  { config }: Context,
  sessions: Iterable<Session>,
): Promise<TakeUnfinished> {
  if (!config.lockers.enforcesTerms) return () => null
  const writable = [...sessions].filter(({ restriction }) => restriction === null)
  const rooms = new Map<string, { left: number; limit: number; released: number }>()
  // A fixed order prevents deadlocks.
  for (const id of [...new Set(writable.map(({ locker_id }) => locker_id))].sort()) {
    const { storage_limit_bytes: limit } = termsOf(await lockLocker(tx, id))
    const left = limit - (await unfinishedBytes(tx, id))
    rooms.set(id, { left, limit, released: await releasedBytes(tx, id) })
  }
  return ({ locker_id }, bytes, givenUp = 0) => {
    const room = rooms.get(locker_id)
    if (!room || (bytes > 0 && bytes > room.left)) return capacityExceeded('unfinished')
    if (givenUp > 0 && room.released > room.limit) return tooMuchReleased()
    room.left -= bytes
    room.released += givenUp
    return null
  }
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
