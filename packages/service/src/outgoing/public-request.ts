// One HTTPS request to a host that a caller has named. The URL, the host's addresses and its certificate are checked
// first, so that nobody can make the service talk to machines that are not public (T-08).

import type { LookupAddress } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { isIP, type TcpSocketConnectOpts } from 'node:net'
import { isPublicAddress, mayBePublicName } from '@svc/protocol/public-address'
import { createResolver, type Resolve, TooManyLookups } from './resolve.ts'

export type SourceFault =
  | 'not_https'
  | 'blocked_host'
  | 'blocked_address'
  | 'unresolvable'
  | 'busy'
  | 'unreachable'
  | 'tls_failed'
  | 'bad_status'
  | 'too_many_redirects'
  | 'bad_redirect'
  | 'encoded'
  | 'too_large'
  | 'timed_out'
  | 'broken_off'
  | 'cancelled'

/** Why a source is not fetched. Callers may see the message, but not the cause, which may name addresses. */
export class SourceError extends Error {
  override name = 'SourceError'
  readonly reason: SourceFault

  constructor(reason: SourceFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}

/** Whether the URL itself is refused, so that trying again does not help. */
export function isBlocked({ reason }: SourceError): boolean {
  return reason === 'not_https' || reason === 'blocked_host' || reason === 'blocked_address'
}

/** The URL parser drops control characters and turns backslashes; other parsers find another host in such text. */
const AMBIGUOUS = /[\p{Cc}\\]/u

/** A URL that may be fetched as far as its text shows. The addresses of its host are checked later. */
export function parseSourceUrl(text: string, base?: URL): URL {
  const url = AMBIGUOUS.test(text) ? null : URL.parse(text, base)
  if (url?.protocol !== 'https:') throw new SourceError('not_https', 'only https:// URLs are fetched')
  if (url.username || url.password)
    throw new SourceError('not_https', 'only https:// URLs without a user name and password are fetched')
  if (!isWebPort(url.port)) throw new SourceError('blocked_host', 'only port 443 and ports from 1024 are fetched from')
  const host = hostOf(url)
  if (!isIP(host) && !mayBePublicName(host)) throw new SourceError('blocked_host', 'only public hosts are fetched from')
  url.hash = ''
  return url
}

/** 443 is the default. The other low ports are of mail, names, shells: services that must not be sent our bytes. */
function isWebPort(port: string): boolean {
  return port === '' || Number(port) >= 1024
}

/** A host name, or an IP address without brackets. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}

/** How to resolve names and connect. Only tests set all but the first, because their servers are on this machine. */
export interface Connecting {
  resolve?: Resolve
  isPublic?: (address: string) => boolean
  ca?: string
  port?: number
}

export interface PublicRequest {
  method: 'GET' | 'POST'
  headers: Readonly<Record<string, string>>
  body?: string
}

/** Resolves with the head of the response. `url` comes from `parseSourceUrl`. */
export async function requestPublicHost(
  url: URL,
  message: PublicRequest,
  options: Connecting,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return send(url, await resolvePublicHost(hostOf(url), options, signal), message, options, signal)
}

/** Why the host of a URL may not be asked. Null when it may, and when its addresses cannot be found out now. */
export async function targetProblem(text: string, options: Connecting, signal: AbortSignal): Promise<string | null> {
  try {
    await resolvePublicHost(hostOf(parseSourceUrl(text)), options, signal)
    return null
  } catch (error) {
    if (error instanceof SourceError) return isBlocked(error) ? error.message : null
    throw error
  }
}

/** One address that is not public blocks the host: a mix of both is an attempt to make us try until we reach it. */
async function resolvePublicHost(
  host: string,
  { resolve = createResolver(), isPublic = isPublicAddress }: Connecting,
  signal: AbortSignal,
): Promise<LookupAddress[]> {
  const addresses = isIP(host)
    ? [{ address: host, family: isIP(host) }]
    : await untilAborted(signal, resolve(host, signal))
  if (addresses.length === 0) throw unresolvable()
  if (!addresses.every(({ address }) => isPublic(address)))
    throw new SourceError('blocked_address', 'only hosts whose addresses are all public are fetched from')
  return addresses
}

function untilAborted(signal: AbortSignal, lookup: Promise<LookupAddress[]>): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(asSourceError(signal.reason)), { once: true })
    lookup.then(resolve, (cause) => reject(cause instanceof TooManyLookups ? busy(cause) : unresolvable(cause)))
  })
}

/** A signal of a caller of this package may have any reason. */
function asSourceError(reason: unknown): SourceError {
  return reason instanceof SourceError ? reason : unresolvable(reason)
}

function busy(cause: TooManyLookups): SourceError {
  return new SourceError('busy', 'too many hosts are being looked up at once', cause)
}

function unresolvable(cause?: unknown): SourceError {
  return new SourceError('unresolvable', 'the host of the source is not known', cause)
}

/** Each address gets two seconds while there are others to try. */
const TRY_ALL: Pick<TcpSocketConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: 2_000,
}

/** Connects to the checked addresses: a second lookup of the name could give others. */
function send(
  url: URL,
  addresses: LookupAddress[],
  { method, headers, body }: PublicRequest,
  { ca, port }: Connecting,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let fault: [SourceFault, string] = ['unreachable', 'the host of the source cannot be reached']
    const sent = request(url, {
      ...TRY_ALL,
      agent: false,
      method,
      headers: { ...headers, host: url.host },
      lookup: (_hostname, _options, done) => done(null, addresses),
      // Stated, because an environment variable can change the default.
      rejectUnauthorized: true,
      signal,
      ...(ca && { ca }),
      ...(port && { port }),
    })
    sent.once('socket', (socket) => {
      socket.once('connect', () => {
        fault = ['tls_failed', 'the host of the source does not prove its name with a good certificate']
      })
      socket.once('secureConnect', () => {
        fault = ['unreachable', 'the host of the source gives no good HTTP answer']
      })
    })
    sent.once('response', resolve)
    sent.on('error', (cause) => reject(signal.aborted ? signal.reason : new SourceError(...fault, cause)))
    // There is no error event when a host switches to another protocol.
    sent.once('close', () => reject(new SourceError(...fault)))
    sent.end(body)
  })
}
