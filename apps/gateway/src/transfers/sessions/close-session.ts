import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../../context.ts'
import type { Schema } from '../../db/schema.ts'
import { releaseParts } from './part-store.ts'
import { endSession, findSessionFiles, lockSession, type Session, type SessionFile } from './store.ts'

/** Whether a session came to its end by what was finalized; null while it may go on (STATE-13). */
function outcomeOf(files: readonly SessionFile[]): 'complete' | 'failed' | null {
  if (files.every(({ state }) => state === 'stored')) return 'complete'
  const isNothingStored = files.every(({ state }) => state !== 'stored')
  const isNothingSent = files.every(({ part_count, top_index }) => part_count === 0 && top_index < 0)
  const isAllWrong = files.every(({ state }) => state === 'failed')
  return isNothingStored && (isNothingSent || isAllWrong) ? 'failed' : null
}

/** After a finalization: ends a session that has nothing left to wait for. False when its lease was lost. */
export async function closeFinished(context: Context, sessionId: string, leaseId: string): Promise<boolean> {
  return context.database.db.transaction().execute(async (tx) => {
    const session = await lockSession(tx, sessionId)
    if (session?.lease_id !== leaseId) return false
    const status = outcomeOf(await findSessionFiles(tx, sessionId))
    if (status) await close(tx, context, sessionId, status, 'CONTENT_NOT_FOUND')
    return true
  })
}

/** Past its time a session ends as it is, unless it is just being finalized. */
export async function closeExpired(context: Context, sessionId: string): Promise<void> {
  await context.database.db.transaction().execute(async (tx) => {
    const session = await lockSession(tx, sessionId)
    if (!session || !isOver(session, unixNow(context))) return
    const files = await findSessionFiles(tx, sessionId)
    const status = files.some(({ state }) => state === 'stored') ? (outcomeOf(files) ?? 'partial') : 'failed'
    await close(tx, context, sessionId, status, 'SESSION_CLOSED')
  })
}

export function isOver(session: Pick<Session, 'closed_at' | 'expires_at' | 'lease_until'>, now: number): boolean {
  const { closed_at, expires_at, lease_until } = session
  return closed_at === null && expires_at <= now && (lease_until === null || lease_until < now)
}

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
