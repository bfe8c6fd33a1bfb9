// One HTTPS request to a caller's host. The URL, the host's addresses and its certificate are checked first, so that no
// caller can make the service connect to machines that are not public (T-08).

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

/** Why a source is not fetched. Callers may see the message, but not the cause, which may contain addresses. */
export class SourceError extends Error {
  override name = 'SourceError'
  readonly reason: SourceFault

  constructor(reason: SourceFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}

/** Whether the URL itself is rejected, so that a retry does not help. */
export function isBlocked({ reason }: SourceError): boolean {
  return reason === 'not_https' || reason === 'blocked_host' || reason === 'blocked_address'
}

/** The URL parser drops control characters and converts backslashes; other parsers find another host in such text. */
const AMBIGUOUS = /[\p{Cc}\\]/u

/** Parses a URL whose text may be fetched. The addresses of its host are checked later. */
export function parseSourceUrl(text: string, base?: URL): URL {
  const url = AMBIGUOUS.test(text) ? null : URL.parse(text, base)
  if (url?.protocol !== 'https:') throw new SourceError('not_https', 'the URL must begin with https://')
  if (url.username || url.password)
    throw new SourceError('not_https', 'the URL must not contain a user name or password')
  if (!isWebPort(url.port)) throw new SourceError('blocked_host', 'the port must be 443, or 1024 or higher')
  const host = hostOf(url)
  if (!isIP(host) && !mayBePublicName(host)) throw new SourceError('blocked_host', 'the host must be public')
  url.hash = ''
  return url
}

/** 443 is the default. The other low ports belong to mail, DNS and shells: services that must not receive our bytes. */
function isWebPort(port: string): boolean {
  return port === '' || Number(port) >= 1024
}

/** A host name, or an IP address without brackets. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}

/** How to resolve names and connect. Only tests set the other options, because their servers are on this machine. */
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

/** Why the host of a URL is rejected. Null when it is accepted, and when its addresses cannot be determined now. */
export async function targetProblem(text: string, options: Connecting, signal: AbortSignal): Promise<string | null> {
  try {
    await resolvePublicHost(hostOf(parseSourceUrl(text)), options, signal)
    return null
  } catch (error) {
    if (error instanceof SourceError) return isBlocked(error) ? error.message : null
    throw error
  }
}

/** One non-public address blocks the host: a mix of both is an attempt to make us try until we reach it. */
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
    throw new SourceError('blocked_address', 'all addresses of the host must be public')
  return addresses
}

function untilAborted(signal: AbortSignal, lookup: Promise<LookupAddress[]>): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(asSourceError(signal.reason)), { once: true })
    lookup.then(resolve, (cause) => reject(cause instanceof TooManyLookups ? busy(cause) : unresolvable(cause)))
  })
}

/** A caller's signal may have any reason. */
function asSourceError(reason: unknown): SourceError {
  return reason instanceof SourceError ? reason : unresolvable(reason)
}

function busy(cause: TooManyLookups): SourceError {
  return new SourceError('busy', 'too many hosts are being looked up at once', cause)
}

function unresolvable(cause?: unknown): SourceError {
  return new SourceError('unresolvable', 'the host of the source cannot be resolved', cause)
}

/** Each address gets two seconds while there are others to try. */
const TRY_ALL: Pick<TcpSocketConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: 2_000,
}

/** Connects to the checked addresses: a second lookup of the name could return others. */
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
      // Set explicitly, because an environment variable can change the default.
      rejectUnauthorized: true,
      signal,
      ...(ca && { ca }),
      ...(port && { port }),
    })
    sent.once('socket', (socket) => {
      socket.once('connect', () => {
        fault = ['tls_failed', 'the host of the source has no valid certificate']
      })
      socket.once('secureConnect', () => {
        fault = ['unreachable', 'the host of the source sent no valid HTTP response']
      })
    })
    sent.once('response', resolve)
    sent.on('error', (cause) => reject(signal.aborted ? signal.reason : new SourceError(...fault, cause)))
    // There is no error event when a host switches to another protocol.
    sent.once('close', () => reject(new SourceError(...fault)))
    sent.end(body)
  })
}
