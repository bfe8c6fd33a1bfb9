// Downloads a file from a caller's URL: from public hosts only, over HTTPS, limited in time and bytes.

import type { IncomingMessage } from 'node:http'
import { finished, type Readable, Transform } from 'node:stream'
import {
  type Connecting,
  type PublicRequest,
  parseSourceUrl,
  requestPublicHost,
  SourceError,
} from './public-request.ts'

const TIMEOUT_MS = 120_000
const MAX_BYTES = 2 ** 30
const MAX_REDIRECTS = 3
const REDIRECTS = [301, 302, 303, 307, 308]
const GET: PublicRequest = {
  method: 'GET',
  headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'svc-gateway' },
}

export interface SourceOptions extends Connecting {
  /** The time from the first lookup to the last byte. */
  deadlineMs?: number
  maxBytes?: number
  /** Ends the download, even during the lookup of the host. */
  signal?: AbortSignal
}

export interface OpenedSource {
  /** Ends after the last byte of the file. Any other end is a `SourceError` of the stream. */
  stream: Readable
  /** As the source sends it: any text. */
  contentType: string | null
  size: number | null
  /** The URL after redirects, which may have added credentials to it. */
  finalUrl: string
}

/** Rejects only with `SourceError`. A caller that does not read the stream to its end must destroy it. */
export async function openSource(sourceUrl: string, options: SourceOptions = {}): Promise<OpenedSource> {
  const { deadlineMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = options
  const download = new AbortController()
  const timedOut = new SourceError('timed_out', `the download did not finish within ${deadlineMs / 1000} seconds`)
  const timer = setTimeout(() => download.abort(timedOut), deadlineMs)
  const cancel = () => download.abort(new SourceError('cancelled', 'the download was cancelled'))
  options.signal?.addEventListener('abort', cancel, { once: true })
  const close = () => {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', cancel)
    download.abort()
  }
  try {
    if (options.signal?.aborted) cancel()
    download.signal.throwIfAborted()
    const { url, response } = await followRedirects(parseSourceUrl(sourceUrl), options, download.signal)
    const size = sizeOf(response, maxBytes)
    const stream = readBody(response, maxBytes, download.signal).once('close', close)
    return { stream, contentType: response.headers['content-type'] ?? null, size, finalUrl: url.href }
  } catch (error) {
    close()
    throw error
  }
}

async function followRedirects(first: URL, options: SourceOptions, signal: AbortSignal) {
  let url = first
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await requestPublicHost(url, GET, options, signal)
    if (!REDIRECTS.includes(response.statusCode!)) return { url, response }
    url = redirectTarget(response, url)
    response.destroy()
  }
  throw new SourceError('too_many_redirects', `the source redirects more than ${MAX_REDIRECTS} times`)
}

function redirectTarget(response: IncomingMessage, url: URL): URL {
  // Node reads headers as Latin-1; bytes beyond ASCII in this one are UTF-8.
  const location = Buffer.from(response.headers.location ?? '', 'latin1').toString()
  if (!location || !URL.canParse(location, url.href))
    throw new SourceError('bad_redirect', 'the source redirects to an invalid address')
  return parseSourceUrl(location, url)
}

/**
 * The size of the file, or null when only the end of the response shows it. Throws when the response is not the file.
 */
function sizeOf({ statusCode, headers }: IncomingMessage, maxBytes: number): number | null {
  const { 'content-encoding': encoding, 'transfer-encoding': transfer, 'content-length': length } = headers
  if (statusCode !== 200) throw new SourceError('bad_status', `the source returned the status ${statusCode}, not 200`)
  if ((encoding && encoding.toLowerCase() !== 'identity') || (transfer && transfer.toLowerCase() !== 'chunked'))
    throw new SourceError('encoded', 'the source sends the file in an encoding that was not requested')
  // Such a file ends where the connection does, and Node treats a broken connection as the end.
  if (!transfer && length === undefined)
    throw new SourceError('broken_off', 'the source does not send the length of the file')
  const size = length === undefined ? null : Number(length)
  if (size !== null && size > maxBytes) throw tooLarge(maxBytes)
  return size
}

function readBody(response: IncomingMessage, maxBytes: number, signal: AbortSignal): Readable {
  let received = 0
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length
      if (received > maxBytes) done(tooLarge(maxBytes))
      else done(null, chunk)
    },
  })
  // An error before the first read must not end the process; a later reader still gets it.
  body.on('error', () => {})
  signal.addEventListener('abort', () => body.destroy(signal.reason), { once: true })
  finished(response, (cause) => {
    if (cause) body.destroy(new SourceError('broken_off', 'the connection broke before the end of the file', cause))
  })
  return response.pipe(body)
}

function tooLarge(maxBytes: number): SourceError {
  return new SourceError('too_large', `the source is larger than ${maxBytes} bytes`)
}
