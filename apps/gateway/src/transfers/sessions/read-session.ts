import type { UploadSessionStatus } from '@svc/api/upload-sessions'
import { type Context, unixNow } from '../../context.ts'
import { closeExpired, isOver } from './close-session.ts'
import { findSession, type Session } from './store.ts'
import { sessionStatus } from './session-view.ts'

/** A session whose time is over says so at once, swept or not. */
export async function readSession(context: Context, session: Session): Promise<UploadSessionStatus> {
  if (!isOver(session, unixNow(context))) return sessionStatus(context, session)
  await closeExpired(context, session.session_id)
  return sessionStatus(context, (await findSession(context.database.db, session.session_id)) ?? session)
}
