import { type Context, unixNow } from '../../context.ts'
import { closeExpired } from './close-session.ts'
import { findExpiredSessions, forgetSessions } from './store.ts'

const AT_ONCE = 100
/** For so long a session tells what became of it. */
const KEPT_SECONDS = 30 * 86_400

/** Ends sessions whose time is over, and forgets those that ended long ago. */
export async function sweepSessions(context: Context): Promise<void> {
  const { db } = context.database
  for (;;) {
    const expired = await findExpiredSessions(db, unixNow(context), AT_ONCE)
    for (const sessionId of expired) await closeExpired(context, sessionId)
    if (expired.length < AT_ONCE) break
  }
  while (await forgetSessions(db, unixNow(context) - KEPT_SECONDS, AT_ONCE));
}
