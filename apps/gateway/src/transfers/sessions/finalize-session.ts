import { setTimeout } from 'node:timers/promises'
import type { FinalizedUpload } from '@svc/api/upload-sessions'
import { keyedMutex, type Limit, limit } from '@svc/concurrency/locks'
import { type Context, unixNow } from '../../context.ts'
import type { FilesContext } from '../../files/room.ts'
import { findLockerOf } from '../../files/store.ts'
import { closeExpired, closeFinished, isOver } from './close-session.ts'
import { sessionNotFound } from './errors.ts'
import { takeLease } from './session-lease.ts'
import { findSession, findSessionFiles, type Session } from './store.ts'
import { finalizedUpload } from './session-view.ts'
import { type Finalizing, storeSessionFile } from './store-file.ts'

export type FinalizeSession = (sessionId: string) => Promise<FinalizedUpload>

/** They are bounded by disk and hashing: more at once are not done sooner. */
const COPIES_AT_ONCE = 4
/** For how long a session that another gateway has is left alone before it is looked at again. */
const WAIT_MS = 100

/** Stores what is whole. Whoever asks again, here or at another gateway, waits for who was first, and gets the same. */
export function createSessionFinalizer(context: FilesContext): FinalizeSession {
  const inTurn = keyedMutex()
  const copyInTurn = limit(COPIES_AT_ONCE)
  return (sessionId) =>
    inTurn(sessionId, async () => {
      while (!(await advance(context, sessionId, copyInTurn))) await setTimeout(WAIT_MS)
      return finalizedUpload(context, await foundSession(context, sessionId))
    })
}

/** False while another gateway is at it. */
async function advance(context: FilesContext, sessionId: string, copyInTurn: Limit): Promise<boolean> {
  const session = await foundSession(context, sessionId)
  if (session.closed_at !== null) return true
  if (isOver(session, unixNow(context))) {
    await closeExpired(context, sessionId)
    return true
  }
  const lease = await takeLease(context, sessionId)
  if (!lease) return false
  try {
    const isMine = await storeFiles(context, session, { leaseId: lease.id, copyInTurn })
    return isMine && (await closeFinished(context, sessionId, lease.id))
  } finally {
    await lease.end()
  }
}

/** False when the lease was lost on the way. */
async function storeFiles(context: FilesContext, session: Session, how: Pick<Finalizing, 'leaseId' | 'copyInTurn'>) {
  const { db } = context.database
  const locker = await findLockerOf(db, { locker_id: session.locker_id })
  if (!locker) throw new Error(`the locker of session ${session.session_id} is gone`)
  for (const file of await findSessionFiles(db, session.session_id)) {
    if (file.state !== 'open') continue
    if ((await storeSessionFile(context, { ...how, locker }, file)) === 'superseded') return false
  }
  return true
}

async function foundSession({ database }: Context, sessionId: string): Promise<Session> {
  const session = await findSession(database.db, sessionId)
  if (!session) throw sessionNotFound()
  return session
}
