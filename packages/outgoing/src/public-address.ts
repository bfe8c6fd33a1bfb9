// Whether an address is on the public internet. Callers may make us connect to no other (T-08).

import { BlockList, isIP } from 'node:net'

type Subnet = readonly [network: string, prefix: number]

/** IANA's special-purpose addresses, including those with a global use other than serving files, and multicast. */
const SPECIAL_IPV4: readonly Subnet[] = [
  ['0.0.0.0', 8], // this host
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by the customers of a provider
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // not IANA's: the host of an Azure virtual machine
  ['169.254.0.0', 16], // link-local, and the metadata of most clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
]

/** Within global unicast. Everything outside it is not public, except the two forms that carry IPv4. */
const SPECIAL_IPV6: readonly Subnet[] = [
  ['2001::', 23], // protocol assignments: Teredo, benchmarks, AMT, ORCHID, DRIP
  ['2001:db8::', 32], // documentation
  ['2620:4f:8000::', 48], // AS112
  ['3ffe::', 16], // 6bone
  ['3fff::', 20], // documentation
]

const GLOBAL_UNICAST: Subnet = ['2000::', 3]
const MAPPED: Subnet = ['::ffff:0:0', 96]
/** IPv4 as IPv6-only networks see it (RFC 6052). The prefix for local use, 64:ff9b:1::/48, is not public. */
const NAT64: Subnet = ['64:ff9b::', 96]

const special = new BlockList()
for (const [network, prefix] of SPECIAL_IPV4) special.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of SPECIAL_IPV6) special.addSubnet(network, prefix, 'ipv6')

// Check these for IPv6 addresses only: to a BlockList every IPv4 address is also a mapped one.
const translated = new BlockList()
for (const [network, prefix] of [MAPPED, NAT64]) translated.addSubnet(network, prefix, 'ipv6')
const unicast = new BlockList()
unicast.addSubnet(...GLOBAL_UNICAST, 'ipv6')

/** False for text that is no address, and for addresses with a zone. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4')
  if (isIP(address) !== 6 || address.includes('%')) return false
  if (translated.check(address, 'ipv6')) return isPublicAddress(dotted(groupsOf(address).slice(6)))
  return unicast.check(address, 'ipv6') && !special.check(address, 'ipv6') && tunnelEnds(address).every(isPublicAddress)
}

/** The IPv4 hosts that 6to4 (RFC 3056) and ISATAP (RFC 5214) addresses are carried to. */
function tunnelEnds(address: string): string[] {
  const groups = groupsOf(address)
  const is6to4 = groups[0] === 0x2002
  // The two masked bits say whether the address is unique or a group; both are ISATAP.
  const isIsatap = (groups[4]! & ~0x0300) === 0 && groups[5] === 0x5efe
  return [...(is6to4 ? [dotted(groups.slice(1, 3))] : []), ...(isIsatap ? [dotted(groups.slice(6))] : [])]
}

/** The eight groups. The URL parser writes every address in one form, without dots. */
function groupsOf(address: string): number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head, tail = []] = canonical.split('::').map((part) => part.split(':').filter(Boolean))
  const left = head ?? []
  const zeros = Array.from({ length: 8 - left.length - tail.length }, () => '0')
  return [...left, ...zeros, ...tail].map((group) => Number.parseInt(group, 16))
}

function dotted(groups: number[]): string {
  return groups.flatMap((group) => [group >> 8, group & 0xff]).join('.')
}
