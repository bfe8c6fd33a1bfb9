// For tests: URLs that lead to an address in every notation that some parser accepts, and listeners that nothing may
// call.

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Loopback, unspecified, link-local with the metadata service of clouds, private, shared. */
const FORBIDDEN_IPV4 = [
  ...['127.0.0.1', '127.0.0.2', '127.255.255.254', '0.0.0.0', '169.254.169.254', '10.0.0.1', '172.16.0.1'],
  ...['192.168.1.1', '100.64.0.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
]

const FORBIDDEN_IPV6 = ['::', '::1', '0:0:0:0:0:0:0:1', 'fe80::1', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1']

const LOCAL_NAMES = [
  ...['localhost', 'LocalHost', 'localhost.', 'localhost..', 'a.localhost', 'ｌｏｃａｌｈｏｓｔ', 'loc%61lhost'],
  ...['local\u00adhost', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'localhost\u3002', 'printer.local', 'db.internal', 'router.home.arpa', 'gateway'],
  ...['metadata.google.internal', 'metadata.google.internal.', 'metadata', 'metadata.example', 'files.example.test.'],
]

const RADICES: ((value: number) => string)[] = [
  (value) => String(value),
  (value) => `0${value.toString(8)}`,
  (value) => `000${value.toString(8)}`,
  (value) => `0x${value.toString(16)}`,
  (value) => `0X${value.toString(16).toUpperCase()}`,
]

/** Digits that the URL standard maps to ASCII, and characters that it reads as dots. */
const DIGITS = ['０', '𝟎', '𝟘', '𝟢', '𝟬', '𝟶']
const DOTS = ['。', '．', '｡']

/** Spellings of an IPv4 address that the URL standard accepts. */
export function ipv4Forms(ipv4: string): string[] {
  const bytes = ipv4.split('.').map(Number)
  const numbers = RADICES.flatMap((write) => [4, 3, 2, 1].map((parts) => joined(bytes, parts).map(write).join('.')))
  const mixed = bytes.map((byte, i) => (RADICES[i] as (value: number) => string)(byte)).join('.')
  const zeros = DIGITS.map((zero) => ipv4.replace(/\d/g, (digit) => shifted(zero, Number(digit))))
  const circled = ipv4.replace(/\d/g, (digit) => (digit === '0' ? '⓪' : shifted('①', Number(digit) - 1)))
  const dots = DOTS.map((dot) => ipv4.replaceAll('.', dot))
  const encoded = ipv4.replace(/\d/g, (digit) => `%3${digit}`)
  const softened = ipv4.replaceAll('.', '.\u00ad')
  return [...new Set([...numbers, mixed, `${ipv4}.`, ...zeros, circled, ...dots, encoded, softened])]
}

/** The last of `parts` parts contains all remaining bytes: `127.1` is `127.0.0.1`. */
function joined(bytes: readonly number[], parts: number): number[] {
  const last = bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0)
  return [...bytes.slice(0, parts - 1), last]
}

function shifted(first: string, by: number): string {
  return String.fromCodePoint((first.codePointAt(0) as number) + by)
}

/** IPv6 addresses that lead to an IPv4 address, and some that once did. */
export function ipv6Forms(ipv4: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number)
  const hex = [(a << 8) | b, (c << 8) | d].map((group) => group.toString(16)).join(':')
  const prefixes = ['::ffff:', '::FFFF:', '0:0:0:0:0:ffff:', '::', '::ffff:0:', '64:ff9b::', '64:ff9b:1::']
  const carried = prefixes.flatMap((prefix) => [prefix + ipv4, prefix + hex])
  return [...carried, `2002:${hex}::1`, `2002:${hex}::`, `2001:0:${hex}::1`, `2a00:1450:4001:80f:0:5efe:${hex}`]
}

/** Other spellings of a URL in which some parser finds another host. */
const DISGUISES: ((host: string) => string)[] = [
  (host) => `https://files.example.test@${host}/`,
  (host) => `https://files.example.test:443@${host}/`,
  (host) => `https://files.example.test\\@${host}/`,
  (host) => `https://files.example.test%40${host}/`,
  (host) => `https://${host}\\.files.example.test/`,
  (host) => `https://${host}#@files.example.test/`,
  (host) => `https://${host}?@files.example.test/`,
  (host) => `https:${host}`,
  (host) => `https:/${host}/`,
  (host) => `https:////${host}/`,
  (host) => `https:\\\\${host}\\`,
  (host) => ` https://${host}/ `,
  (host) => `ht\ttps://${host}/`,
  (host) => `https://\n${host}/`,
  (host) => `https://${[...host].join('\r')}/`,
  (host) => `HTTPS://${host}:443/`,
  (host) => `http://${host}/`,
  (host) => `//${host}/`,
  (host) => `wss://${host}/`,
  (host) => `ftp://${host}/`,
  (host) => `view-source:https://${host}/`,
]

/**
 * URLs of hosts that nothing may call, on this port if the notation allows one. Includes the addresses of this machine.
 */
export function forbiddenUrls(port: number): string[] {
  const { own4, own6 } = ownAddresses()
  const ipv4 = [...FORBIDDEN_IPV4, ...own4]
  const hosts = [
    ...ipv4.flatMap(ipv4Forms),
    ...[...ipv4.flatMap(ipv6Forms), ...FORBIDDEN_IPV6, ...own6].map((address) => `[${address}]`),
    ...['[::1%25lo]', '[fe80::1%eth0]', '[::ffff:127.1]', '[::1', '0', '127.0.0.08', '256.256.256.256'],
    ...LOCAL_NAMES,
  ]
  const disguised = ['127.0.0.1', '2130706433', '[::1]', 'localhost'].flatMap((host) =>
    DISGUISES.map((write) => write(`${host}:${port}`)),
  )
  return [...new Set([...hosts.map((host) => `https://${host}:${port}/`), ...disguised])]
}

/** The addresses that are not public; a public one cannot be distinguished from others. */
function ownAddresses(): { own4: string[]; own6: string[] } {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const of = (family: string) => own.filter((one) => one.family === family).map(({ address }) => address)
  return {
    own4: of('IPv4').filter((address) => /^(10|127|172\.(1[6-9]|2\d|3[01])|192\.168)\./.test(address)),
    own6: of('IPv6').filter((address) => /^(::1$|f[cde])/.test(address)),
  }
}

export type Trap = Awaited<ReturnType<typeof startTrap>>

/** Listens on every address of this machine. */
export async function startTrap() {
  let calls = 0
  const server = createServer((socket) => {
    calls++
    socket.destroy()
  })
  server.listen(0)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** The number of connections, from any client. */
    calls: () => calls,
    async stop() {
      server.close()
      await once(server, 'close')
    },
  }
}
