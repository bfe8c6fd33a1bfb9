import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { isIP, type TcpSocketConnectOpts } from 'node:net'
import { isPublicAddress } from './public-address.ts'

export type SourceFault =
  | 'not_https'
  | 'blocked_host'
  | 'blocked_address'
  | 'unresolvable'
  | 'unreachable'
  | 'tls_failed'
  | 'bad_status'
  | 'too_many_redirects'
  | 'bad_redirect'
  | 'encoded'
  | 'too_large'
  | 'timed_out'
  | 'broken_off'

/** Why a source is not fetched. The message may be told to the caller; the cause, which may name addresses, may not. */
export class SourceError extends Error {
  override name = 'SourceError'
  readonly reason: SourceFault

  constructor(reason: SourceFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}

/** The URL parser drops control characters and turns backslashes; others read such text as the URL of another host. */
const AMBIGUOUS = /[\p{Cc}\\]/u

/** Names of this machine, of its network, and of what clouds tell their machines. */
const BLOCKED_ZONES = ['localhost', 'local', 'internal', 'home.arpa']
const BLOCKED_PREFIX = 'metadata.'

/** A URL that may be fetched, as far as its text tells; which addresses its host has is another question. */
export function parseSourceUrl(text: string, base?: URL): URL {
  const url = AMBIGUOUS.test(text) ? null : URL.parse(text, base)
  if (url?.protocol !== 'https:') throw new SourceError('not_https', 'only https:// URLs are fetched')
  if (url.username || url.password)
    throw new SourceError('not_https', 'only https:// URLs without a user name and password are fetched')
  if (url.port) throw new SourceError('blocked_host', 'only port 443 is fetched from')
  if (isBlocked(hostOf(url))) throw new SourceError('blocked_host', 'only public hosts are fetched from')
  url.hash = ''
  return url
}

/** A host name, or an IP address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}

/** A name with a dot at its end is the same host under another name. */
function isBlocked(host: string): boolean {
  if (isIP(host)) return false
  const isPlain = host.includes('.') && !host.endsWith('.')
  return !isPlain || host.startsWith(BLOCKED_PREFIX) || BLOCKED_ZONES.some((zone) => `.${host}`.endsWith(`.${zone}`))
}

export interface Resolving {
  resolve?: (hostname: string) => Promise<LookupAddress[]>
  isPublic?: (address: string) => boolean
}

/** One address that is not public condemns the host: who mixes them wants us to try until we meet it. */
export async function resolvePublicHost(
  host: string,
  { resolve = (hostname) => lookup(hostname, { all: true }), isPublic = isPublicAddress }: Resolving,
  signal: AbortSignal,
): Promise<LookupAddress[]> {
  const addresses = isIP(host) ? [{ address: host, family: isIP(host) }] : await beforeAbort(signal, resolve(host))
  if (addresses.length === 0) throw unresolvable()
  if (!addresses.every(({ address }) => isPublic(address)))
    throw new SourceError('blocked_address', 'only hosts whose addresses are all public are fetched from')
  return addresses
}

/** Look-ups cannot be stopped; nobody waits for one that comes too late. */
function beforeAbort(signal: AbortSignal, lookup: Promise<LookupAddress[]>): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    lookup.then(resolve, (cause) => reject(unresolvable(cause)))
  })
}

function unresolvable(cause?: unknown): SourceError {
  return new SourceError('unresolvable', 'the host of the source is not known', cause)
}

export interface Connecting {
  ca?: string
  port?: number
}

/** What is said to a host. */
export interface Spoken {
  method: 'GET' | 'POST'
  headers: Readonly<Record<string, string>>
  body?: string
}

/** An address gets two seconds while there are others to try. */
const TRY_ALL: Pick<TcpSocketConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: 2_000,
}

/** Resolves with the head of the answer. Connects to the addresses given; the host's name is not looked up again. */
export function requestSource(
  url: URL,
  addresses: LookupAddress[],
  { method, headers, body }: Spoken,
  { ca, port }: Connecting,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let fault: [SourceFault, string] = ['unreachable', 'the host of the source cannot be reached']
    const asked = request(url, {
      ...TRY_ALL,
      agent: false,
      method,
      headers: { ...headers, host: url.host },
      lookup: (_hostname, _options, done) => done(null, addresses),
      // Said aloud, because an environment variable can change what is usual.
      rejectUnauthorized: true,
      signal,
      ...(ca && { ca }),
      ...(port && { port }),
    })
    asked.once('socket', (socket) => {
      socket.once('connect', () => {
        fault = ['tls_failed', 'the host of the source does not prove its name with a good certificate']
      })
      socket.once('secureConnect', () => {
        fault = ['unreachable', 'the host of the source gives no good HTTP answer']
      })
    })
    asked.once('response', resolve)
    asked.on('error', (cause) => reject(signal.aborted ? signal.reason : new SourceError(...fault, cause)))
    // There is no error where a host answers that it now speaks another protocol.
    asked.once('close', () => reject(new SourceError(...fault)))
    asked.end(body)
  })
}
