// Access control over HTTP. Rejects web pages of other origins, including DNS rebinding.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

interface Guard {
  /** Null if every process on this machine has access. */
  token: string | null
  isLoopback: boolean
}

interface Objection {
  status: 401 | 403
  message: string
}

export function isLoopbackHost(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]', '::1'].includes(hostname)
}

export function objectionTo(headers: IncomingHttpHeaders, { token, isLoopback }: Guard): Objection | null {
  const host = URL.parse(`http://${headers.host ?? ''}`)
  if (!host || host.host === '' || (isLoopback && !isLoopbackHost(host.hostname)))
    return { status: 403, message: 'this server does not accept this Host header' }
  if (headers.origin !== undefined && URL.parse(headers.origin)?.host !== host.host)
    return { status: 403, message: 'pages of other origins may not call this server' }
  if (token !== null && !isToken(headers.authorization, token))
    return { status: 401, message: 'a bearer token is required' }
  return null
}

/** Compares in constant time. */
function isToken(authorization: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${token}`))
}
