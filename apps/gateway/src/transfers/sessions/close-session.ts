// How upload sessions end: by finalization, by the clock, or by revocation.

import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../../context.ts'
import type { Schema } from '../../db/schema.ts'
import { grantOf, isGranted } from '../../lockers/access.ts'
import { releaseParts } from './part-store.ts'
import {
  deleteClosedSessions,
  endSession,
  findAbandonedSessions,
  findExpiredSessions,
  findSessionFiles,
  lockSession,
  type Session,
  type SessionFile,
} from './store.ts'

const SWEEP_BATCH = 100
/** How long a closed session can still be read. */
const KEPT_SECONDS = 30 * 86_400
/** For how long after a session's end a finalization that was cut off is resumed. */
const RESUMED_SECONDS = 86_400

/** After a finalization: closes a session that waits for nothing more. False when the lease was lost. */
export async function closeFinished(context: Context, sessionId: string, leaseId: string): Promise<boolean> {
  return context.database.db.transaction().execute(async (tx) => {
    const session = await lockSession(tx, sessionId)
    if (session?.lease_id !== leaseId) return false
    const status = outcomeOf(await findSessionFiles(tx, sessionId))
    if (status) await close(tx, context, sessionId, status, 'CONTENT_NOT_FOUND')
    return true
  })
}

/** Closes a session that is over as it stands, unless a gateway is finalizing it. */
export async function closeOver(context: Context, sessionId: string): Promise<void> {
  await context.database.db.transaction().execute(async (tx) => {
    const session = await lockSession(tx, sessionId)
    if (!session || !isOver(session, unixNow(context))) return
    const files = await findSessionFiles(tx, sessionId)
    const status = files.some(({ state }) => state === 'stored') ? (outcomeOf(files) ?? 'partial') : 'failed'
    await close(tx, context, sessionId, status, 'SESSION_CLOSED')
  })
}

/**
 * By the clock, or because whoever opened the session has lost access. A finalization that began in time is finished: a
 * session with a lease stays open for as long as that is tried.
 */
export function isOver(session: Session, now: number): boolean {
  const { closed_at, expires_at, lease_until } = session
  if (closed_at !== null) return false
  const isLeased = lease_until !== null && lease_until >= now
  if (!isGranted(session, grantOf(session))) return !isLeased
  if (expires_at > now || isLeased) return false
  return lease_until === null || expires_at <= now - RESUMED_SECONDS
}

/** Queues the sessions whose finalization was cut off, by a crash or an error (SESS-05). */
export async function resumeFinalizations({ database, queue, ...context }: Context): Promise<void> {
  const found = await findAbandonedSessions(database.db, resumable(unixNow(context)), SWEEP_BATCH)
  for (const session_id of found) {
    await database.db
      .transaction()
      .execute((tx) => queue.enqueue(tx, 'finalize-upload', { session_id }, { key: session_id }))
  }
}

/** Closes expired sessions, and deletes sessions that closed long ago. */
export async function sweepSessions(context: Context): Promise<void> {
  const { db } = context.database
  for (;;) {
    const expired = await findExpiredSessions(db, resumable(unixNow(context)), SWEEP_BATCH)
    for (const sessionId of expired) await closeOver(context, sessionId)
    if (expired.length < SWEEP_BATCH) break
  }
  while (await deleteClosedSessions(db, unixNow(context) - KEPT_SECONDS, SWEEP_BATCH));
}

const resumable = (now: number) => ({ now, resumedAfter: now - RESUMED_SECONDS })

async function close(
  tx: Transaction<Schema>,
  context: Context,
  sessionId: string,
  status: Session['status'],
  error: string,
): Promise<void> {
  const at = unixNow(context)
  await endSession(tx, sessionId, { status, at, error })
  await releaseParts(tx, { session_id: sessionId }, { since: at })
}

/** The final status that the files decide; null while the session may go on (STATE-13). */
function outcomeOf(files: readonly SessionFile[]): 'complete' | 'failed' | null {
  if (files.every(({ state }) => state === 'stored')) return 'complete'
  const noneStored = files.every(({ state }) => state !== 'stored')
  const noneSent = files.every(({ part_count, top_index }) => part_count === 0 && top_index < 0)
  const allFailed = files.every(({ state }) => state === 'failed')
  return noneStored && (noneSent || allFailed) ? 'failed' : null
}
