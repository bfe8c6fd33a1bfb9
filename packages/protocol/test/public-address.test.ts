import { describe, expect, it } from 'vitest'
import { isPublicAddress, mayBePublicHost } from '../src/public-address.ts'

/** The first and the last address of each range, and the adjacent public addresses. */
const IPV4_RANGES: [first: string, last: string, ...beside: string[]][] = [
  ['0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '255.255.255.255', '223.255.255.255'],
]

const PRIVATE_IPV6 = {
  unspecified: ['::', '0:0:0:0:0:0:0:0'],
  loopback: ['::1', '0000:0000:0000:0000:0000:0000:0000:0001'],
  'IPv4-compatible': ['::2', '::127.0.0.1', '::169.254.169.254', '::8.8.8.8'],
  'IPv4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  'NAT64 for local use': ['64:ff9b:1::', '64:ff9b:1::169.254.169.254', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  'beside NAT64': ['64:ff9b:0:0:0:1::', '64:ff9a:ffff::1'],
  'discard and dummy': ['100::', '100::1', '100:0:0:1::1'],
  'not assigned': ['1::', '200::1', '400::1', '1fff:ffff::1', '4000::', '8000::1', 'e000::1', 'fbff::1', 'fe00::1'],
  Teredo: ['2001::', '2001:0:808:808::f7f7:f7f7', '2001:0:7f00:1::1', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  'protocol assignments': ['2001:1::1', '2001:2::1', '2001:3::1', '2001:4:112::1', '2001:10::1', '2001:1ff:ffff::1'],
  documentation: ['2001:db8::', '2001:db8:ffff::1', '3fff::', '3fff:fff:ffff:ffff::1'],
  AS112: ['2620:4f:8000::1', '2620:4f:8000:ffff::1'],
  '6bone': ['3ffe::1', '3ffe:ffff::1'],
  'segment routing': ['5f00::1', '5f00:ffff::1'],
  'unique local': ['fc00::', 'fd00:ec2::254', 'fd20:ce::254', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'link-local': ['fe80::', 'fe80::1', 'febf:ffff::1', 'fe80::1%eth0', 'fe80::1%1'],
  'site-local': ['fec0::', 'fec0::1', 'feff:ffff::1'],
  multicast: ['ff00::', 'ff02::1', 'ff0e::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
}

const PUBLIC_IPV6 = [
  ...['2001:200::1', '2001:4860:4860::8888', '2001:db7:ffff::1', '2001:db9::1', '2003::1', '2606:4700:4700::1111'],
  ...['2620:4f:7fff::1', '2620:4f:8001::1', '2606:4700::1111', '2a00:1450:4001:80f::200e', '3ffd:ffff::1'],
  ...['2A00:1450:4001:080F:0000:0000:0000:200E', '3fff:1000::1'],
]

/** Forms that contain an IPv4 address. */
const EMBEDDINGS: Record<string, (ipv4: string) => string> = {
  mapped: (ipv4) => `::ffff:${ipv4}`,
  'mapped, in hexadecimal': (ipv4) => `::ffff:${hex(ipv4)}`,
  'mapped, in full and capitals': (ipv4) => `0000:0000:0000:0000:0000:FFFF:${hex(ipv4).toUpperCase()}`,
  NAT64: (ipv4) => `64:ff9b::${ipv4}`,
  'NAT64, in hexadecimal': (ipv4) => `64:ff9b:0:0:0:0:${hex(ipv4)}`,
  '6to4': (ipv4) => `2002:${hex(ipv4)}::1`,
  '6to4 of a whole network': (ipv4) => `2002:${hex(ipv4)}::`,
  ISATAP: (ipv4) => `2a00:1450:4001:80f:0:5efe:${hex(ipv4)}`,
  'ISATAP of a unique address': (ipv4) => `2a00:1450:4001:80f:200:5efe:${ipv4}`,
  'ISATAP in 6to4': (ipv4) => `2002:808:808:1:0:5efe:${ipv4}`,
}

function hex(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number)
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}

describe('IPv4 addresses', () => {
  it.each(IPV4_RANGES)('T-08 are not public from %s to %s, and their neighbours are', (first, last, ...beside) => {
    expect([first, last].filter(isPublicAddress)).toEqual([])
    expect(beside.filter((address) => !isPublicAddress(address))).toEqual([])
  })
})

describe('IPv6 addresses', () => {
  it.each(Object.entries(PRIVATE_IPV6))('T-08 are not public in the block "%s"', (_kind, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([])
  })

  it('FILE-26 are public if they can be reached, but not with a zone', () => {
    expect(PUBLIC_IPV6.filter((address) => !isPublicAddress(address))).toEqual([])
    expect(isPublicAddress('2606:4700:4700::1111%eth0')).toBe(false)
  })

  it.each(Object.entries(EMBEDDINGS))('T-08 are public exactly if the IPv4 address in them is (%s)', (_form, carry) => {
    const inside = IPV4_RANGES.flatMap((range) => range.slice(0, 2))
    expect(inside.map(carry).filter(isPublicAddress)).toEqual([])
    const beside = IPV4_RANGES.flatMap((range) => range.slice(2))
    expect(beside.map(carry).filter((address) => !isPublicAddress(address))).toEqual([])
  })
})

it('T-08 text that is not an address is not public', () => {
  const noIpv4 = ['', 'localhost', '127.1', '0177.0.0.1', '0x7f000001', '2130706433', '8.8.8.8.', ' 8.8.8.8', '8.8.8']
  const ends = [
    '[::1]',
    ':2606:4700::1',
    '2606:4700::1:',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '2606:4700:1:2:3:4:5:6::',
  ]
  const parts = ['2606:4700::1::1', '2606:4700:::1', '2606:4700::12345', '2606:4700::g']
  const mixed = ['::8.8.8.8:1', '2606:4700::8.8.8', '2606:4700::08.8.8.8']
  expect([...noIpv4, ...ends, ...parts, ...mixed].filter(isPublicAddress)).toEqual([])
})

it('T-08 a host may be public if it is a public address or a name outside of private zones', () => {
  const good = ['example.com', 'a.b.example', '93.184.216.34', '2606:4700::1111', 'internal.example']
  expect(good.filter((host) => !mayBePublicHost(host))).toEqual([])
  const bad = ['', 'localhost', 'a.localhost', 'printer', 'printer.local', 'db.internal', 'router.home.arpa']
  const metadata = ['metadata.google.internal', 'metadata.example', 'example.com.', '127.0.0.1', '::1', 'fe80::1%1']
  expect([...bad, ...metadata].filter(mayBePublicHost)).toEqual([])
})
