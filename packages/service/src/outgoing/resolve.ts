// Resolves host names from untrusted input. Node's own lookup occupies the thread pool that files and all other
// connections of the process need, and cannot be cancelled. This one queries the name servers itself, within a
// deadline.

import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'

const TIMEOUT_MS = 5_000
/** The time limit of one name server, before the next one is asked. */
const SERVER_TIMEOUT_MS = 2_000
/** The limit of this process. A lookup beyond it fails instead of waiting. */
const MAX_LOOKUPS = 100
const NO_SUCH_RECORD = ['ENODATA', 'ENOTFOUND']

export class TooManyLookups extends Error {
  override name = 'TooManyLookups'
}

export type Resolve = (hostname: string, signal: AbortSignal) => Promise<LookupAddress[]>

/** Queries these name servers, or those of the system. Ignores the hosts file. */
export function createResolver(servers: readonly string[] = []): Resolve {
  let running = 0
  return async (hostname, callerSignal) => {
    if (running >= MAX_LOOKUPS) throw new TooManyLookups('too many names are being looked up')
    const signal = AbortSignal.any([callerSignal, AbortSignal.timeout(TIMEOUT_MS)])
    signal.throwIfAborted()
    const resolver = new Resolver({ timeout: SERVER_TIMEOUT_MS, tries: 2 })
    if (servers.length > 0) resolver.setServers(servers)
    signal.addEventListener('abort', () => resolver.cancel(), { once: true })
    running++
    try {
      return await bothFamilies(resolver, hostname)
    } finally {
      running--
    }
  }
}

/** One family is enough, because many hosts and some name servers know only one. */
async function bothFamilies(resolver: Resolver, hostname: string): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const failure = answers.find((answer) => answer.status === 'rejected' && !NO_SUCH_RECORD.includes(answer.reason.code))
  if (addresses.length === 0 && failure?.status === 'rejected') throw failure.reason
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}
