import type { Selectable } from 'kysely'
import type { Db, Locker, Tx, UploadSessionFileTable, UploadSessionTable } from '../../db/schema.ts'
import { ACCESS } from '../../lockers/access.ts'

export type SessionRow = Selectable<UploadSessionTable>

const LOCKER_FACTS = ['provider', ...ACCESS] as const

/** A session with the relevant columns of its locker. */
export type Session = SessionRow & Pick<Locker, (typeof LOCKER_FACTS)[number]>
export type SessionFile = Selectable<UploadSessionFileTable>

export async function insertSession(tx: Tx, session: SessionRow, files: readonly SessionFile[]): Promise<SessionRow> {
  await tx.insertInto('upload_sessions').values(session).execute()
  await tx.insertInto('upload_session_files').values(files).execute()
  return session
}

export async function findSession(db: Db, sessionId: string): Promise<Session | null> {
  return (await sessions(db).where('session_id', '=', sessionId).executeTakeFirst()) ?? null
}

function sessions(db: Db) {
  return db
    .selectFrom('upload_sessions')
    .innerJoin('lockers', 'lockers.locker_id', 'upload_sessions.locker_id')
    .selectAll('upload_sessions')
    .select(LOCKER_FACTS)
}

/**
 * Every change to a session, its files or its parts takes this lock first, so that gateways change it one after
 * another.
 */
export async function lockSessions(tx: Tx, sessionIds: readonly string[]): Promise<Map<string, Session>> {
  const rows = await sessions(tx)
    .where('session_id', 'in', sessionIds)
    // A fixed order prevents deadlocks.
    .orderBy('session_id')
    .forUpdate('upload_sessions')
    .execute()
  return new Map(rows.map((row) => [row.session_id, row]))
}

export async function lockSession(tx: Tx, sessionId: string): Promise<Session | null> {
  return (await lockSessions(tx, [sessionId])).get(sessionId) ?? null
}

/** The newest that may still receive bytes. */
export function openSessionsOf(db: Db, lockerId: string, now: number, limit: number): Promise<SessionRow[]> {
  return db
    .selectFrom('upload_sessions')
    .selectAll()
    .where('locker_id', '=', lockerId)
    .where('closed_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('expires_at', 'desc')
    .orderBy('session_id')
    .limit(limit)
    .execute()
}

/** In the order of the request that opened the session. */
export function findSessionFiles(db: Db, sessionId: string): Promise<SessionFile[]> {
  return db
    .selectFrom('upload_session_files')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('file_id')
    .execute()
}

export async function findSessionFile(db: Db, sessionId: string, fileId: string): Promise<SessionFile | null> {
  const row = await db
    .selectFrom('upload_session_files')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('file_id', '=', fileId)
    .executeTakeFirst()
  return row ?? null
}

/** The named file that the session has stored in its locker. */
export async function findStored(db: Db, sessionId: string, filename: string): Promise<SessionFile | null> {
  const row = await db
    .selectFrom('upload_session_files')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('filename', '=', filename)
    .where('state', '=', 'stored')
    .executeTakeFirst()
  return row ?? null
}

export async function updateSessionFile(
  tx: Tx,
  { session_id, file_id }: Pick<SessionFile, 'session_id' | 'file_id'>,
  changes: Partial<Omit<SessionFile, 'session_id' | 'file_id'>>,
): Promise<void> {
  await tx
    .updateTable('upload_session_files')
    .set(changes)
    .where('session_id', '=', session_id)
    .where('file_id', '=', file_id)
    .execute()
}

/** False while another gateway holds the lease, and when the session is closed or expired long ago. */
export async function leaseSession(
  tx: Tx,
  sessionId: string,
  { id, until, now, resumedAfter }: { id: string; until: number } & SweepTimes,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('upload_sessions')
    .set({ lease_id: id, lease_until: until })
    .where('session_id', '=', sessionId)
    .where('closed_at', 'is', null)
    .where('expires_at', '>', resumedAfter)
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Renews a lease, or ends it with null. Does nothing when the lease was lost. */
export async function setLeaseUntil(tx: Tx, sessionId: string, leaseId: string, until: number | null): Promise<void> {
  await tx
    .updateTable('upload_sessions')
    .set(until === null ? { lease_id: null, lease_until: null } : { lease_until: until })
    .where('session_id', '=', sessionId)
    .where('lease_id', '=', leaseId)
    .execute()
}

/** Files that are still open fail with the given error. */
export async function endSession(
  tx: Tx,
  sessionId: string,
  { status, at, error }: { status: SessionRow['status']; at: number; error: string },
): Promise<void> {
  await tx
    .updateTable('upload_sessions')
    .set({ status, closed_at: at, lease_id: null, lease_until: null })
    .where('session_id', '=', sessionId)
    .execute()
  await tx
    .updateTable('upload_session_files')
    .set({ state: 'failed', error })
    .where('session_id', '=', sessionId)
    .where('state', '=', 'open')
    .execute()
}

/**
 * Expires the sessions that an S3 key opened, including those that a gateway is finalizing, which then stores nothing
 * more. They are closed like other expired sessions, and not before a restriction of the locker is lifted.
 */
export async function expireSessionsOfKey(tx: Tx, lockerId: string, accessKeyId: string): Promise<void> {
  await tx
    .updateTable('upload_sessions')
    .set({ expires_at: 0, lease_id: null, lease_until: null })
    .where('locker_id', '=', lockerId)
    .where('s3_key', '=', accessKeyId)
    .where('closed_at', 'is', null)
    .execute()
}

interface SweepTimes {
  now: number
  /** Sessions that expired before this are closed, even if their finalization was interrupted. */
  resumedAfter: number
}

export async function findExpiredSessions(db: Db, { now, resumedAfter }: SweepTimes, limit: number): Promise<string[]> {
  const rows = await selectOpen(db, limit)
    .where('expires_at', '<=', now)
    .where(({ and, or, eb }) =>
      or([eb('lease_until', 'is', null), and([eb('lease_until', '<', now), eb('expires_at', '<=', resumedAfter)])]),
    )
    .execute()
  return rows.map(({ session_id }) => session_id)
}

/** Sessions whose lease ended without a result; of one locker only, if `lockerId` is given. */
export async function findAbandonedSessions(
  db: Db,
  { now, resumedAfter }: SweepTimes,
  limit: number,
  lockerId: string | null = null,
): Promise<string[]> {
  const rows = await selectOpen(db, limit)
    .$if(lockerId !== null, (query) => query.where('locker_id', '=', lockerId))
    .where('lease_until', '<', now)
    .where('expires_at', '>', resumedAfter)
    .execute()
  return rows.map(({ session_id }) => session_id)
}

/** Sessions of a restricted locker are excluded. */
function selectOpen(db: Db, limit: number) {
  return db
    .selectFrom('upload_sessions')
    .select('session_id')
    .where('closed_at', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('lockers')
            .select('restriction')
            .whereRef('lockers.locker_id', '=', 'upload_sessions.locker_id')
            .where('restriction', 'is not', null),
        ),
      ),
    )
    .orderBy('expires_at')
    .limit(limit)
}

/** Extends all open sessions. */
export async function extendSessions(tx: Tx, lockerId: string, seconds: number): Promise<void> {
  await tx
    .updateTable('upload_sessions')
    .set((eb) => ({ expires_at: eb('expires_at', '+', seconds) }))
    .where('closed_at', 'is', null)
    .where('locker_id', '=', lockerId)
    .execute()
}

/** True when more sessions may remain. */
export async function deleteClosedSessions(tx: Tx, closedBefore: number, limit: number): Promise<boolean> {
  const rows = await tx
    .selectFrom('upload_sessions')
    .select('session_id')
    .where('closed_at', '<', closedBefore)
    .limit(limit)
    .execute()
  const ids = rows.map(({ session_id }) => session_id)
  if (ids.length === 0) return false
  await tx.deleteFrom('tus_uploads').where('session_id', 'in', ids).execute()
  await tx.deleteFrom('upload_session_files').where('session_id', 'in', ids).execute()
  await tx.deleteFrom('upload_sessions').where('session_id', 'in', ids).execute()
  return ids.length === limit
}
