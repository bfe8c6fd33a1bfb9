// Ends upload sessions: by finalization, by expiry, or by revocation. Sessions of a restricted locker do not end, and
// are extended by the duration of the restriction (T-50).

import { requireWritable } from '../../auth/restrictions.ts'
import { type Context, unixNow } from '../../context.ts'
import type { Tx } from '../../db/schema.ts'
import { type Grant, grantOf, isGranted, requireGranted } from '../../lockers/access.ts'
import { releaseParts } from './part-store.ts'
import {
  deleteClosedSessions,
  endSession,
  extendSessions,
  findAbandonedSessions,
  findExpiredSessions,
  findSessionFiles,
  lockSession,
  type Session,
  type SessionFile,
} from './store.ts'

const SWEEP_BATCH = 100
/** How long a closed session can be read. */
const CLOSED_RETENTION_SECONDS = 30 * 86_400
/** How long after its end an interrupted finalization of a session is resumed. */
const RESUMABLE_SECONDS = 86_400

/** After a finalization: closes the session if none of its files is open. False when the lease was lost. */
export async function closeFinished(context: Context, sessionId: string, leaseId: string): Promise<boolean> {
  return context.database.commit(async (tx) => {
    const session = await lockSession(tx, sessionId)
    if (session?.lease_id !== leaseId) return false
    const status = outcomeOf(await findSessionFiles(tx, sessionId))
    if (status) await close(tx, context, sessionId, status, 'CONTENT_NOT_FOUND')
    return true
  })
}

/**
 * Aborts a session for its client, whose access must still be valid. `finalizing`: nothing changed, because a gateway
 * is storing the files.
 */
export async function abortSession(
  context: Context,
  sessionId: string,
  grant: Grant,
): Promise<'aborted' | 'closed' | 'finalizing'> {
  return context.database.commit(async (tx) => {
    const session = await lockSession(tx, sessionId)
    if (!session || session.closed_at !== null) return 'closed'
    await requireGranted(tx, session, grant)
    requireWritable(session)
    if (isLeased(session, unixNow(context))) return 'finalizing'
    await close(tx, context, sessionId, 'failed', 'SESSION_CLOSED')
    return 'aborted'
  })
}

/** Closes an expired session in its current state, unless a gateway is finalizing it. */
export async function closeOver(context: Context, sessionId: string): Promise<void> {
  await context.database.commit(async (tx) => {
    const session = await lockSession(tx, sessionId)
    if (!session || !isOver(session, unixNow(context))) return
    const files = await findSessionFiles(tx, sessionId)
    const status = files.some(({ state }) => state === 'stored') ? (outcomeOf(files) ?? 'partial') : 'failed'
    await close(tx, context, sessionId, status, 'SESSION_CLOSED')
  })
}

/**
 * A session is over when it expires or when the caller who opened it loses access. A finalization that began in time is
 * completed: a session with a lease stays open while a gateway tries.
 */
export function isOver(session: Session, now: number): boolean {
  const { closed_at, expires_at, lease_until, restriction } = session
  if (closed_at !== null || restriction !== null || isLeased(session, now)) return false
  if (!isGranted(session, grantOf(session))) return true
  if (expires_at > now) return false
  return lease_until === null || expires_at <= now - RESUMABLE_SECONDS
}

/** Whether a gateway is finalizing the session. */
export function isLeased({ lease_until }: Pick<Session, 'lease_until'>, now: number): boolean {
  return lease_until !== null && lease_until >= now
}

/** Queues sessions whose finalization was interrupted by a crash or an error (SESS-05). */
export async function resumeFinalizations({ database, queue, ...context }: Context): Promise<void> {
  const found = await findAbandonedSessions(database.db, resumable(unixNow(context)), SWEEP_BATCH)
  for (const session_id of found) {
    await database.commit((tx) => queue.enqueue(tx, 'finalize-upload', { session_id }, { key: session_id }))
  }
}

/**
 * Extends the sessions of a locker after a restriction by its duration. Queues one batch of the finalizations that it
 * interrupted; the periodic job queues the others.
 */
export async function continueSessions(
  { queue, ...context }: Context,
  tx: Tx,
  lockerId: string,
  seconds: number,
): Promise<void> {
  await extendSessions(tx, lockerId, seconds)
  const found = await findAbandonedSessions(tx, resumable(unixNow(context)), SWEEP_BATCH, lockerId)
  for (const session_id of found) await queue.enqueue(tx, 'finalize-upload', { session_id }, { key: session_id })
}

/** Closes expired sessions, and deletes sessions that closed long ago. */
export async function sweepSessions(context: Context): Promise<void> {
  const { db, commit } = context.database
  for (;;) {
    const expired = await findExpiredSessions(db, resumable(unixNow(context)), SWEEP_BATCH)
    for (const sessionId of expired) await closeOver(context, sessionId)
    if (expired.length < SWEEP_BATCH) break
  }
  while (await commit((tx) => deleteClosedSessions(tx, unixNow(context) - CLOSED_RETENTION_SECONDS, SWEEP_BATCH)));
}

export const resumable = (now: number) => ({ now, resumedAfter: now - RESUMABLE_SECONDS })

async function close(
  tx: Tx,
  context: Context,
  sessionId: string,
  status: Session['status'],
  error: string,
): Promise<void> {
  const at = unixNow(context)
  await endSession(tx, sessionId, { status, at, error })
  await releaseParts(tx, { session_id: sessionId }, { since: at })
}

/** The final status according to the files; null while the session may continue (STATE-13). */
function outcomeOf(files: readonly SessionFile[]): 'complete' | 'failed' | null {
  if (files.every(({ state }) => state === 'stored')) return 'complete'
  const noneStored = files.every(({ state }) => state !== 'stored')
  const noneSent = files.every(({ part_count, top_index }) => part_count === 0 && top_index < 0)
  const allFailed = files.every(({ state }) => state === 'failed')
  return noneStored && (noneSent || allFailed) ? 'failed' : null
}
