// Fetches what a caller names: from public hosts alone, over HTTPS, bounded in time and in bytes.

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { readSource, sizeOfSource } from './read-source.ts'
import { type Connecting, requestSource, type Spoken } from './request-source.ts'
import { type Resolving, resolvePublicHost } from './resolve-source.ts'
import { SourceError } from './source-error.ts'
import { hostOf, parseSourceUrl } from './source-url.ts'

const DEADLINE_MS = 120_000
const MAX_BYTES = 2 ** 30
const MAX_REDIRECTS = 3
const REDIRECTS = [301, 302, 303, 307, 308]
const GET: Spoken = {
  method: 'GET',
  headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'svc-gateway' },
}

/** How to resolve and connect is said by tests alone, whose servers are on this machine. */
export interface SourceOptions extends Resolving, Connecting {
  /** From the first look-up to the last byte. */
  deadlineMs?: number
  maxBytes?: number
}

export interface OpenedSource {
  /** Ends after the last byte of the file; whatever keeps it from that is a `SourceError` of the stream. */
  stream: Readable
  /** As the source says it: any text. */
  contentType: string | null
  size: number | null
  /** After redirects, which may have put credentials into it. */
  finalUrl: string
}

/** Rejects with `SourceError` alone. Whoever does not read the stream to its end destroys it. */
export async function openSource(sourceUrl: string, options: SourceOptions = {}): Promise<OpenedSource> {
  const { deadlineMs = DEADLINE_MS, maxBytes = MAX_BYTES } = options
  const download = new AbortController()
  const timedOut = new SourceError('timed_out', `the source did not arrive within ${deadlineMs / 1000} seconds`)
  const timer = setTimeout(() => download.abort(timedOut), deadlineMs)
  const close = () => {
    clearTimeout(timer)
    download.abort()
  }
  try {
    const { url, response } = await followRedirects(parseSourceUrl(sourceUrl), options, download.signal)
    const size = sizeOfSource(response, maxBytes)
    const stream = readSource(response, maxBytes, download.signal).once('close', close)
    return { stream, contentType: response.headers['content-type'] ?? null, size, finalUrl: url.href }
  } catch (error) {
    close()
    throw error
  }
}

async function followRedirects(first: URL, options: SourceOptions, signal: AbortSignal) {
  let url = first
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const addresses = await resolvePublicHost(hostOf(url), options, signal)
    const response = await requestSource(url, addresses, GET, options, signal)
    if (!REDIRECTS.includes(response.statusCode!)) return { url, response }
    url = redirectTarget(response, url)
    response.destroy()
  }
  throw new SourceError('too_many_redirects', `the source redirects more than ${MAX_REDIRECTS} times`)
}

function redirectTarget(response: IncomingMessage, url: URL): URL {
  // Node reads headers as Latin-1; what is not ASCII in this one is UTF-8.
  const location = Buffer.from(response.headers.location ?? '', 'latin1').toString()
  if (!location || !URL.canParse(location, url.href))
    throw new SourceError('bad_redirect', 'the source redirects to nowhere')
  return parseSourceUrl(location, url)
}
