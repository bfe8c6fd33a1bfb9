import { isIPv4, isIPv6 } from 'node:net'

/**
 * The key under which a client address is limited: the IPv4 address itself, or the /64 network of an IPv6 address,
 * because one subscriber has the whole network. Text that is not an address, which a proxy may send, counts as one
 * client.
 */
export function addressKey(clientAddress: string): string {
  if (isIPv4(clientAddress)) return clientAddress
  if (!isIPv6(clientAddress)) return 'unknown'
  const groups = ipv6Groups(clientAddress)
  const isMappedIpv4 = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'
  return isMappedIpv4 ? ipv4Of(groups.slice(6)) : `${groups.slice(0, 4).join(':')}::/64`
}

/** The eight groups, in lower case and without leading zeros. */
function ipv6Groups(address: string): string[] {
  const withoutZone = address.split('%')[0]
  // The URL parser also turns a dotted ending into two groups.
  const canonical = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = canonical.split('::').map((part) => part.split(':').filter(Boolean))
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}

function ipv4Of(groups: string[]): string {
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.')
}
