// Sends a message to an address that a caller has named: to public hosts alone, over HTTPS, bounded in time.

import type { IncomingMessage } from 'node:http'
import {
  type Connecting,
  hostOf,
  parseSourceUrl,
  type Resolving,
  requestSource,
  resolvePublicHost,
  SourceError,
} from './public-request.ts'

const DEADLINE_MS = 10_000
const MAX_ANSWER_BYTES = 65_536

export interface Message {
  headers: Readonly<Record<string, string>>
  body: string
}

/** How to resolve and connect is said by tests alone, whose servers are on this machine. */
export interface PostOptions extends Resolving, Connecting {
  /** From the look-up to the end of the answer. */
  deadlineMs?: number
}

/** The status of the answer, whatever it is: redirects are not followed. Rejects with `SourceError` alone. */
export async function post(target: string, { headers, body }: Message, options: PostOptions = {}): Promise<number> {
  const { deadlineMs = DEADLINE_MS } = options
  const sending = new AbortController()
  const timedOut = new SourceError('timed_out', `the host did not answer within ${deadlineMs / 1000} seconds`)
  const timer = setTimeout(() => sending.abort(timedOut), deadlineMs)
  try {
    const url = parseSourceUrl(target)
    const addresses = await resolvePublicHost(hostOf(url), options, sending.signal)
    const spoken = { method: 'POST', headers: { ...headers, 'content-length': lengthOf(body) }, body } as const
    const response = await requestSource(url, addresses, spoken, options, sending.signal)
    await hearOut(response)
    return response.statusCode!
  } finally {
    clearTimeout(timer)
    sending.abort()
  }
}

function lengthOf(text: string): string {
  return String(Buffer.byteLength(text))
}

/** The status has been said: what becomes of the rest of the answer does not matter, and too much of it is not read. */
async function hearOut(response: IncomingMessage): Promise<void> {
  let received = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      received += chunk.length
      if (received > MAX_ANSWER_BYTES) return
    }
  } catch {}
}
