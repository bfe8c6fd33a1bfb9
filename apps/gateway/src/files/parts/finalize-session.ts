import { setTimeout } from 'node:timers/promises'
import { type KeyedLimit, keyedLimit, keyedMutex, type Limit, limit } from '@svc/concurrency/locks'
import { toHex } from '@svc/protocol/bytes'
import type { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../../context.ts'
import { grantOf } from '../../lockers/access.ts'
import { findLockerOf } from '../store.ts'
import { closeFinished, closeOver, isOver, resumable } from './close-session.ts'
import type { Finalizing } from './copy-parts.ts'
import { isFinalRefusal, sessionNotFound } from './errors.ts'
import { findSession, findSessionFiles, leaseSession, type Session, setLeaseUntil } from './store.ts'
import { type StoreOutcome, storeFile } from './store-file.ts'

export type FinalizeSession = (sessionId: string) => Promise<void>

/** Copying is limited by disk and hashing: more copies would not be faster. */
const MAX_COPIES = 4
/** Per owner, so that others do not wait for all of an owner's copies (T-35). */
const MAX_COPIES_PER_OWNER = 2
/** How often to check a session that another gateway is finalizing. */
const POLL_MS = 100
/** How long other gateways wait after a crash. */
const LEASE_SECONDS = 15
const RENEW_MS = 5000

/** Stores the complete files. Concurrent calls, also at other gateways, wait for the first. */
export function createSessionFinalizer(context: Context): FinalizeSession {
  const onePerSession = keyedMutex()
  const [limitAll, limitOwner] = [limit(MAX_COPIES), keyedLimit(MAX_COPIES_PER_OWNER)]
  const limitCopies: KeyedLimit = (owner, copy) => limitOwner(owner, () => limitAll(copy))
  return (sessionId) =>
    onePerSession(sessionId, async () => {
      while (!(await advance(context, sessionId, limitCopies))) await setTimeout(POLL_MS)
    })
}

/** False while another gateway holds the session. */
async function advance(context: Context, sessionId: string, limitCopies: KeyedLimit): Promise<boolean> {
  const session = await requireSession(context, sessionId)
  if (session.closed_at !== null) return true
  // Finalization continues when the restriction is lifted (T-50).
  if (session.restriction !== null) return true
  if (isOver(session, unixNow(context))) {
    await closeOver(context, sessionId)
    return true
  }
  const lease = await acquireLease(context, sessionId)
  if (!lease) return false
  try {
    const limitOwn: Limit = (copy) => limitCopies(session.owner, copy)
    const outcome = await storeFiles(context, session, { leaseId: lease.id, limitCopies: limitOwn })
    const isDone = outcome === 'done' && (await closeFinished(context, sessionId, lease.id))
    await (outcome === 'restricted' ? lease.abandon() : lease.end())
    return isDone
  } catch (error) {
    await (isFinalRefusal(error) ? lease.end() : lease.abandon())
    throw error
  }
}

async function storeFiles(
  context: Context,
  session: Session,
  finalizing: Pick<Finalizing, 'leaseId' | 'limitCopies'>,
): Promise<StoreOutcome> {
  const { db } = context.database
  const locker = await findLockerOf(db, { locker_id: session.locker_id })
  if (!locker) throw new Error(`the locker of session ${session.session_id} is gone`)
  let refusal: ServiceError | null = null
  for (const file of await findSessionFiles(db, session.session_id)) {
    if (file.state !== 'open') continue
    try {
      const outcome = await storeFile(context, { ...finalizing, locker, grant: grantOf(session) }, file)
      if (outcome !== 'done') return outcome
    } catch (error) {
      // Another file may be small enough.
      if (!isFinalRefusal(error)) throw error
      refusal ??= error
    }
  }
  if (refusal) throw refusal
  return 'done'
}

interface Lease {
  id: string
  end(): Promise<void>
  /** Leaves the rest to the next caller, or to the job that resumes interrupted finalizations. */
  abandon(): Promise<void>
}

/**
 * Ensures that only one gateway finalizes a session, without a long transaction. Null while another gateway holds the
 * lease.
 */
async function acquireLease(context: Context, sessionId: string): Promise<Lease | null> {
  const { commit } = context.database
  const id = toHex(context.randomBytes(16))
  const now = unixNow(context)
  if (!(await commit((tx) => leaseSession(tx, sessionId, { id, until: now + LEASE_SECONDS, ...resumable(now) }))))
    return null
  const renew = () => commit((tx) => setLeaseUntil(tx, sessionId, id, unixNow(context) + LEASE_SECONDS))
  // A failed renewal may lose the lease, which the next transaction of the finalization detects.
  const timer = setInterval(() => void renew().catch(() => {}), RENEW_MS)
  const setUntil = (until: number | null) => {
    clearInterval(timer)
    return commit((tx) => setLeaseUntil(tx, sessionId, id, until))
  }
  return { id, end: () => setUntil(null), abandon: () => setUntil(unixNow(context) - 1) }
}

async function requireSession({ database }: Context, sessionId: string): Promise<Session> {
  const session = await findSession(database.db, sessionId)
  if (!session) throw sessionNotFound()
  return session
}
