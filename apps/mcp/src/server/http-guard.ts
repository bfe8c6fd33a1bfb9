// Who may speak to the server over HTTP. A page in a browser may not, wherever its name leads.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

interface Guard {
  /** Null where everybody on this machine may. */
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
    return { status: 403, message: 'this server is not called that' }
  if (headers.origin !== undefined && URL.parse(headers.origin)?.host !== host.host)
    return { status: 403, message: 'pages of other origins may not call this server' }
  if (token !== null && !isToken(headers.authorization, token))
    return { status: 401, message: 'a bearer token is required' }
  return null
}

/** In a time that tells nothing about how much of it is right. */
function isToken(authorization: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${token}`))
}
