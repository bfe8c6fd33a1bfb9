import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isPublicAddress } from '@svc/protocol/public-address'
import { SourceError } from './source-error.ts'

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
