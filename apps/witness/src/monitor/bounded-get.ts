// Requests to logs, gateways and witnesses, limited in time and bytes: responses may be slow, endless or malformed.

import { retry } from '@svc/concurrency/retry'
import { fromUtf8 } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { readAtMost, TooManyBytes } from '@svc/protocol/read-at-most'

/** The reason why something cannot be read now. It proves nothing about the log. */
export class Unreadable extends Error {
  override name = 'Unreadable'
  /** A checkpoint that the log does not account for. */
  readonly unexplained: string | null

  constructor(
    message: string,
    { unexplained = null, ...options }: ErrorOptions & { unexplained?: string | null } = {},
  ) {
    super(message, options)
    this.unexplained = unexplained
  }
}

/** The body of the response; null when it does not exist (404). Rejects with `Unreadable`, unless the monitor stops. */
export type BoundedGet = (url: string, maxBytes: number) => Promise<Uint8Array<ArrayBuffer> | null>

const TIMEOUT_MS = 20_000

/** `signal` aborts all requests. */
export function boundedGet(signal: AbortSignal, timeoutMs = TIMEOUT_MS): BoundedGet {
  return async (url, maxBytes) => {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const once = async () => {
      const response = await fetch(url, { redirect: 'error', signal: ended })
      if (response.ok) return readBody(response, maxBytes)
      await response.body?.cancel()
      if (response.status === 404) return null
      throw new Unreadable(`${url} responds with ${response.status}`)
    }
    // A server may close an idle connection at the moment of its reuse.
    const isRetryable = (error: unknown) => !(error instanceof Unreadable) && !ended.aborted
    try {
      return await retry(once, { attempts: 2, backoffMs: 100, isRetryable, signal: ended })
    } catch (error) {
      throw error instanceof Unreadable || signal.aborted
        ? error
        : new Unreadable(`${url}: ${reasonOf(error)}`, { cause: error })
    }
  }
}

async function readBody({ body, url }: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readAtMost(maxBytes, body ?? [])
  } catch (error) {
    throw error instanceof TooManyBytes ? new Unreadable(`${url} responds with ${error.message}`) : error
  }
}

/** The exact text: a byte order mark is part of it, and nothing is replaced. */
export function textOf(bytes: Uint8Array): string {
  const text = fromUtf8(bytes)
  if (text === null) throw new Unreadable('the response is not UTF-8')
  return text
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: unknown } }
  return typeof cause?.code === 'string' ? cause.code : message
}

/** Sends JSON, and reads a bounded response. Rejects unless the response is a success. */
export async function boundedPost(url: string, body: Json, signal: AbortSignal, maxBytes: number): Promise<Uint8Array> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  })
  if (response.ok) return readBody(response, maxBytes)
  await response.body?.cancel()
  throw new Unreadable(`${new URL(url).host} responds with ${response.status}`)
}
