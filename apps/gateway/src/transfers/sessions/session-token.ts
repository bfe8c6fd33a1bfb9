// The token of an upload session. The session's id follows from it, so that a token which is not the session's shows
// before anything is looked up: nobody else learns which sessions there are.

import { hash, timingSafeEqual } from 'node:crypto'
import type { WireRequest } from '@svc/http-service/wire-request'
import { toBase64Url } from '@svc/protocol/bytes'
import { bearerToken } from '../../auth/oidc.ts'
import type { Context } from '../../context.ts'
import { sessionNotFound, uploadTokenInvalid } from './errors.ts'
import { findSession, type Session } from './store.ts'

export interface NewToken {
  /** 43 characters, shown once. */
  token: string
  sessionId: string
  /** What is kept of it. */
  tokenHash: string
}

export function newUploadToken({ randomBytes }: Pick<Context, 'randomBytes'>): NewToken {
  const token = toBase64Url(randomBytes(32))
  return { token, sessionId: sessionIdOf(token), tokenHash: digest(token).toString('hex') }
}

/** Says which session is meant, and that the caller may act for it. */
export async function sessionCaller({ database }: Context, wire: WireRequest, sessionId: string): Promise<Session> {
  const token = tokenOf(wire)
  if (token === null || sessionIdOf(token) !== sessionId) throw uploadTokenInvalid()
  const session = await findSession(database.db, sessionId)
  if (!session) throw sessionNotFound()
  if (!timingSafeEqual(digest(token), Buffer.from(session.token_hash, 'hex'))) throw uploadTokenInvalid()
  return session
}

/** A proxy in between may have an `Authorization` of its own: ours comes first. */
function tokenOf({ headers }: WireRequest): string | null {
  const own = headers['x-upload-token']
  const token = own === undefined ? bearerToken(headers.authorization) : own
  return typeof token === 'string' && /^[A-Za-z0-9_-]{43}$/.test(token) ? token : null
}

/** Half a hash: as far from the token as from any other 32 bytes. Another hash than the one that is kept. */
function sessionIdOf(token: string): string {
  return `us_${hash('sha256', `upload session ${token}`).slice(0, 32)}`
}

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
