import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/**
 * Finds the address a request came from. `X-Forwarded-For` is read from its end, for as long as the address that added
 * the entry is one of the trusted proxies (addresses or networks).
 */
export function clientAddressReader(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? ''
  const proxies = new BlockList()
  for (const proxy of trustedProxies) {
    const [address = '', bits] = proxy.split('/')
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    proxies.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  const isTrusted = (address: string) =>
    isIPv4(address) ? proxies.check(address, 'ipv4') : isIPv6(address) && proxies.check(address, 'ipv6')
  return ({ socket, headers }) => {
    let address = socket.remoteAddress ?? ''
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
    for (const entry of forwarded.reverse()) {
      const before = entry.trim()
      if (before === '' || !isTrusted(address)) break
      address = before
    }
    return address
  }
}
