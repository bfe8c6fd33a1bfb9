// The view of an upload: a read-only id for clients that may only upload. It replaces the receipt id in a public link
// and shows the files that one session has stored, until the session's token expires. It is derived from the session's
// id, so nothing is stored.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { toBase64Url, utf8 } from '@svc/protocol/bytes'
import type { Ed25519Signer } from '@svc/protocol/keys'
import { type Context, unixNow } from '../../context.ts'
import { grantOf, isGranted } from '../../lockers/access.ts'
import { findSession, type Session } from './store.ts'

/** `us_….` and 43 characters, which only gateways with the same key for short URLs can derive. */
export type ViewId = (sessionId: string) => string

/** Tokens of short URLs are JSON objects, so none of them has this signature. It stays secret. */
const DOMAIN = utf8('svc/upload-views/v1')

export function createViewIds(signer: Ed25519Signer): ViewId {
  const secret = signer.sign(DOMAIN)
  return (sessionId) => `${sessionId}.${toBase64Url(createHmac('sha256', secret).update(sessionId).digest())}`
}

/** Neither receipt ids nor the handles of public links begin like this. */
export function isViewId(id: string): boolean {
  return id.startsWith('us_')
}

/** The session of a view; null if it does not exist, is over, or its opener has lost access. */
export async function findViewed(context: Context, id: string): Promise<Session | null> {
  const [sessionId = ''] = id.split('.')
  if (!isSame(context.viewId(sessionId), id)) return null
  const session = await findSession(context.database.db, sessionId)
  return session && isViewable(context, session) ? session : null
}

export function isViewable(context: Pick<Context, 'now'>, session: Session): boolean {
  return session.door === null && isGranted(session, grantOf(session)) && unixNow(context) < session.expires_at
}

function isSame(expected: string, shown: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(shown)]
  return a.length === b.length && timingSafeEqual(a, b)
}
