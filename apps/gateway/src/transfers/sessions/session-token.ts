// The token of an upload session. The session's id is derived from it, so that a wrong token is refused before the
// database is read: without the token nobody learns which sessions exist.

import { hash, timingSafeEqual } from 'node:crypto'
import type { WireRequest } from '@svc/http-service/wire-request'
import { toBase64Url } from '@svc/protocol/bytes'
import { bearerToken } from '../../auth/bearer-token.ts'
import { requireWritable } from '../../auth/restrictions.ts'
import type { Context } from '../../context.ts'
import { grantOf, isGranted } from '../../lockers/access.ts'
import { sessionNotFound, uploadTokenInvalid } from './errors.ts'
import { findSession, type Session } from './store.ts'

interface NewToken {
  /** 43 characters, shown once. */
  token: string
  sessionId: string
  /** The only form in which the token is stored. */
  tokenHash: string
}

export function newUploadToken({ randomBytes }: Pick<Context, 'randomBytes'>): NewToken {
  const token = toBase64Url(randomBytes(32))
  return { token, sessionId: sessionIdOf(token), tokenHash: digest(token).toString('hex') }
}

/** The session that the token opens, while whoever opened the session has access. */
export async function sessionCaller({ database }: Context, wire: WireRequest, sessionId: string): Promise<Session> {
  const token = tokenOf(wire)
  if (token === null || sessionIdOf(token) !== sessionId) throw uploadTokenInvalid()
  const session = await findSession(database.db, sessionId)
  if (!session) throw sessionNotFound()
  if (!timingSafeEqual(digest(token), Buffer.from(session.token_hash, 'hex'))) throw uploadTokenInvalid()
  if (!isGranted(session, grantOf(session))) throw uploadTokenInvalid()
  if (wire.method !== 'GET' && wire.method !== 'HEAD') requireWritable(session)
  return session
}

/** X-Upload-Token comes first: a proxy may set its own `Authorization`. */
function tokenOf({ headers }: WireRequest): string | null {
  const own = headers['x-upload-token']
  const token = own === undefined ? bearerToken(headers.authorization) : own
  return typeof token === 'string' && /^[A-Za-z0-9_-]{43}$/.test(token) ? token : null
}

/** Half of a hash other than the stored one: it reveals nothing about the token. */
function sessionIdOf(token: string): string {
  return `us_${hash('sha256', `upload session ${token}`).slice(0, 32)}`
}

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
