// One gateway at a time puts a session together, without holding a transaction open for as long as that takes.

import { toHex } from '@svc/protocol/bytes'
import { type Context, unixNow } from '../../context.ts'
import { leaseSession, setLeaseUntil } from './store.ts'

export interface Lease {
  id: string
  end(): Promise<void>
}

/** After a crash the session waits for as long. */
const LEASE_SECONDS = 15
const RENEW_MS = 5000

/** Null while another has the session. */
export async function takeLease(context: Context, sessionId: string): Promise<Lease | null> {
  const { db } = context.database
  const id = toHex(context.randomBytes(16))
  const now = unixNow(context)
  if (!(await leaseSession(db, sessionId, { id, now, until: now + LEASE_SECONDS }))) return null
  const renew = () => setLeaseUntil(db, sessionId, id, unixNow(context) + LEASE_SECONDS)
  // A lease that could not be renewed in time is another's, which the end of the work finds out.
  const timer = setInterval(() => void renew().catch(() => {}), RENEW_MS)
  return {
    id,
    end() {
      clearInterval(timer)
      return setLeaseUntil(db, sessionId, id, null)
    },
  }
}
