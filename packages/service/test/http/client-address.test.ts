import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { clientAddressReader } from '../../src/http/client-address.ts'

function addressOf(trustedProxies: readonly string[], remoteAddress: string, forwarded?: string): string {
  const request = { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }
  return clientAddressReader(trustedProxies)(request as unknown as IncomingMessage) // the reader needs no more of it
}

it('ignores forwarded addresses unless it trusts a proxy', () => {
  expect(addressOf([], '203.0.113.5', '198.51.100.1')).toBe('203.0.113.5')
  expect(addressOf(['10.0.0.0/8'], '203.0.113.5', '198.51.100.1')).toBe('203.0.113.5')
})

it.each([
  ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', '192.0.2.9, 198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', '198.51.100.1, 10.2.3.4', '198.51.100.1'],
  ['::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['fd00::1', '2001:db8::7', '2001:db8::7'],
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['10.0.0.1', 'nonsense, 10.0.0.2', 'nonsense'],
])('reads the addresses behind %s, forwarded for %s, up to the first untrusted one', (peer, forwarded, client) => {
  expect(addressOf(['10.0.0.0/8', 'fd00::/8'], peer, forwarded)).toBe(client)
})
