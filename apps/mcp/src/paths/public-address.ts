// Addresses that a model names, read from this machine: only public ones, so that nothing behind its firewall is reached.

import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { BlockList, isIP } from 'node:net'
import { Refusal } from '../failures.ts'

const WITHIN_MS = 60_000

// Apart, because a rule for IPv6 also counts for the addresses of IPv4 that IPv6 can write.
const NOT_PUBLIC = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  NOT_PUBLIC.ipv4.addSubnet(network, bits)
// Of IPv6, only 2000::/3 is routed in public; 2002::/16 and 64:ff9b::/96 wrap addresses of IPv4.
for (const [network, bits] of [
  ['::', 3],
  ['2001::', 32],
  ['2002::', 16],
  ['4000::', 2],
  ['8000::', 1],
] as const)
  NOT_PUBLIC.ipv6.addSubnet(network, bits, 'ipv6')

export function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  return !NOT_PUBLIC[family].check(address, family)
}

/** The body of an https answer; redirects are not followed. */
export async function readPublic(url: URL, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  if (url.protocol !== 'https:' || url.username || url.password || (isIP(literal) !== 0 && !isPublic(literal)))
    throw refused(url)
  const response = await answer(url, AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]))
  if (response.statusCode === 200) return response
  response.destroy()
  throw new Refusal('bad_url', `${url.origin} answers with HTTP ${response.statusCode}`)
}

function answer(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(
        error instanceof Refusal ? error : new Refusal('bad_url', `${url.origin} cannot be read: ${error.message}`),
      )
    get(url, { lookup: publicLookup(url), signal }, resolve).on('error', fail)
  })
}

/** The addresses that are connected to are those that were looked at: a name cannot mean something else in between. */
function publicLookup(url: URL) {
  return (hostname: string, options: object, done: (error: Error | null, address: LookupAddress[]) => void): void => {
    systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      done(addresses.every(({ address }) => isPublic(address)) ? null : refused(url), addresses)
    })
  }
}

function refused({ origin }: URL): Refusal {
  return new Refusal('bad_url', `${origin} is not a public https address`, 'Download it, and give its `path`')
}
