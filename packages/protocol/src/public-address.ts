// Whether a host is on the public internet. Requests of callers connect to no other hosts (T-08).

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

/** Within global unicast. Outside of it, only the two IPv4 forms can be public. */
const SPECIAL_IPV6: readonly Subnet[] = [
  ['2001::', 23], // protocol assignments: Teredo, benchmarks, AMT, ORCHID, DRIP
  ['2001:db8::', 32], // documentation
  ['2620:4f:8000::', 48], // AS112
  ['3ffe::', 16], // 6bone
  ['3fff::', 20], // documentation
]

const GLOBAL_UNICAST: Subnet = ['2000::', 3]
const MAPPED: Subnet = ['::ffff:0:0', 96]
/** IPv4 in IPv6-only networks (RFC 6052). The prefix for local use, 64:ff9b:1::/48, is not public. */
const NAT64: Subnet = ['64:ff9b::', 96]

/** Names of this machine and its network, and of cloud metadata services. */
const PRIVATE_ZONES = ['localhost', 'local', 'internal', 'home.arpa']
const METADATA_PREFIX = 'metadata.'

/** Whether the text of a host allows it to be public. A name must still be resolved. IPv6 has no brackets. */
export function mayBePublicHost(host: string): boolean {
  return ipv4Bits(host) !== null || ipv6Groups(host) !== null ? isPublicAddress(host) : mayBePublicName(host)
}

/** The same for a host that is not an address. */
export function mayBePublicName(name: string): boolean {
  // A trailing dot is another spelling of the same host.
  const isPlain = name.includes('.') && !name.endsWith('.')
  const isPrivate = name.startsWith(METADATA_PREFIX) || PRIVATE_ZONES.some((zone) => `.${name}`.endsWith(`.${zone}`))
  return isPlain && !isPrivate
}

/** False for text that is not an address, and for addresses with a zone. */
export function isPublicAddress(address: string): boolean {
  const ipv4 = ipv4Bits(address)
  if (ipv4 !== null) return !SPECIAL_IPV4.some((subnet) => isWithin(ipv4, 32n, subnet))
  const groups = ipv6Groups(address)
  if (groups === null) return false
  const ipv6 = ipv6Bits(groups)
  const isIn = (subnet: Subnet) => isWithin(ipv6, 128n, subnet)
  if (isIn(MAPPED) || isIn(NAT64)) return isPublicAddress(dotted(groups.slice(6)))
  return isIn(GLOBAL_UNICAST) && !SPECIAL_IPV6.some(isIn) && tunnelEnds(groups).every(isPublicAddress)
}

/** The IPv4 hosts that receive packets to 6to4 (RFC 3056) and ISATAP (RFC 5214) addresses. */
function tunnelEnds(groups: readonly number[]): string[] {
  const is6to4 = groups[0] === 0x2002
  // The universal and group bits can have any value.
  const isIsatap = ((groups[4] as number) & ~0x0300) === 0 && groups[5] === 0x5efe
  return [...(is6to4 ? [dotted(groups.slice(1, 3))] : []), ...(isIsatap ? [dotted(groups.slice(6))] : [])]
}

function isWithin(address: bigint, length: bigint, [network, prefix]: Subnet): boolean {
  const rest = length - BigInt(prefix)
  const first = length === 32n ? ipv4Bits(network) : ipv6Bits(ipv6Groups(network) ?? [])
  return address >> rest === (first as bigint) >> rest
}

/** Null for text that is not four decimal numbers without leading zeros. */
function ipv4Bits(text: string): bigint | null {
  const parts = text.split('.')
  const isAddress = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
  return isAddress ? parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n) : null
}

/** The eight groups, or null for text that is not an IPv6 address. The last two may be written as an IPv4 address. */
function ipv6Groups(text: string): number[] | null {
  const tail = /(?<=:)\d+\.\d+\.\d+\.\d+$/.exec(text)?.[0]
  if (tail !== undefined) {
    const bits = ipv4Bits(tail)
    const hex = (part: bigint) => (part & 0xffffn).toString(16)
    return bits === null ? null : ipv6Groups(`${text.slice(0, -tail.length)}${hex(bits >> 16n)}:${hex(bits)}`)
  }
  const halves = text.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const written = halves.flat()
  const isComplete = halves.length === 2 ? written.length < 8 : halves.length === 1 && written.length === 8
  if (!isComplete || !written.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null
  const zeros = Array<string>(8 - written.length).fill('0')
  return [...(halves[0] as string[]), ...zeros, ...(halves[1] ?? [])].map((group) => Number.parseInt(group, 16))
}

function ipv6Bits(groups: readonly number[]): bigint {
  return groups.reduce((bits, group) => (bits << 16n) | BigInt(group), 0n)
}

function dotted(groups: readonly number[]): string {
  return groups.flatMap((group) => [group >> 8, group & 0xff]).join('.')
}
