// Posts a message to a caller's URL: to public hosts only, over HTTPS, limited in time.

import type { IncomingMessage } from 'node:http'
import {
  type Connecting,
  type PublicRequest,
  parseSourceUrl,
  requestPublicHost,
  SourceError,
} from './public-request.ts'

const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 65_536

export interface Message {
  headers: Readonly<Record<string, string>>
  body: string
}

export interface PostOptions extends Connecting {
  /** The time from the lookup to the end of the response. */
  deadlineMs?: number
}

/** Any status of the response: redirects are not followed. Rejects only with `SourceError`. */
export async function post(target: string, { headers, body }: Message, options: PostOptions = {}): Promise<number> {
  const { deadlineMs = TIMEOUT_MS } = options
  const sending = new AbortController()
  const timedOut = new SourceError('timed_out', `the host did not answer within ${deadlineMs / 1000} seconds`)
  const timer = setTimeout(() => sending.abort(timedOut), deadlineMs)
  const length = String(Buffer.byteLength(body))
  const message: PublicRequest = { method: 'POST', headers: { ...headers, 'content-length': length }, body }
  try {
    const response = await requestPublicHost(parseSourceUrl(target), message, options, sending.signal)
    await discardBody(response)
    return response.statusCode!
  } finally {
    clearTimeout(timer)
    sending.abort()
  }
}

/** The status is known, so errors in the rest of the response do not matter, and a long rest is not read. */
async function discardBody(response: IncomingMessage): Promise<void> {
  let received = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      received += chunk.length
      if (received > MAX_RESPONSE_BYTES) return
    }
  } catch {}
}
