// The token of an upload session. The session's id is derived from it, so that a wrong token is rejected without a
// database query: without the token, callers cannot learn which sessions exist.

import { hash, timingSafeEqual } from 'node:crypto'
import { toBase64Url } from '@svc/protocol/bytes'
import type { Context } from '../../context.ts'
import type { Session } from './store.ts'

interface NewToken {
  /** 43 characters, shown once. */
  token: string
  sessionId: string
  /** The only form in which the token is stored. */
  tokenHash: string
}

export function newUploadToken({ randomBytes }: Pick<Context, 'randomBytes'>): NewToken {
  return uploadToken(toBase64Url(randomBytes(32)))
}

export function uploadToken(token: string): NewToken {
  return { token, sessionId: sessionIdOf(token), tokenHash: digest(token).toString('hex') }
}

/** Half of a different hash than the stored one, so it reveals nothing about the token. */
export function sessionIdOf(token: string): string {
  return `us_${hash('sha256', `upload session ${token}`).slice(0, 32)}`
}

export function isTokenOf({ token_hash }: Pick<Session, 'token_hash'>, token: string): boolean {
  return timingSafeEqual(digest(token), Buffer.from(token_hash, 'hex'))
}

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
