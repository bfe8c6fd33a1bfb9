import type { WireRequest } from '@svc/service/http/wire-request'
import { bearerToken } from '../../../auth/bearer-token.ts'
import { requireWritable } from '../../../auth/restrictions.ts'
import type { Context } from '../../../context.ts'
import { sessionNotFound, uploadTokenInvalid } from '../../../files/parts/errors.ts'
import { isTokenOf, sessionIdOf } from '../../../files/parts/session-token.ts'
import { findSession, type Session } from '../../../files/parts/store.ts'
import { findViewed } from '../../../files/parts/view.ts'
import { grantOf, isGranted } from '../../../lockers/access.ts'

/** Finds the session that the token opens, while the key that opened the session has access. */
export async function sessionCaller({ database }: Context, wire: WireRequest, sessionId: string): Promise<Session> {
  const token = tokenOf(wire)
  if (token === null || sessionIdOf(token) !== sessionId) throw uploadTokenInvalid()
  const session = await findSession(database.db, sessionId)
  if (session?.door !== null) throw sessionNotFound()
  if (!isTokenOf(session, token)) throw uploadTokenInvalid()
  if (!isGranted(session, grantOf(session))) throw uploadTokenInvalid()
  if (wire.method !== 'GET' && wire.method !== 'HEAD') requireWritable(session)
  return session
}

/** For reading, the secret of the session's view works as well as its token. */
export async function sessionReader(context: Context & Context, wire: WireRequest, sessionId: string) {
  const viewed = await findViewed(context, `${sessionId}.${tokenOf(wire)}`)
  return viewed ?? sessionCaller(context, wire, sessionId)
}

/** X-Upload-Token takes precedence: a proxy may set its own `Authorization`. */
function tokenOf({ headers }: WireRequest): string | null {
  const own = headers['x-upload-token']
  const token = own === undefined ? bearerToken(headers.authorization) : own
  return typeof token === 'string' && /^[A-Za-z0-9_-]{43}$/.test(token) ? token : null
}
