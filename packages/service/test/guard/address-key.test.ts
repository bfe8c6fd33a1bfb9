import { expect, it } from 'vitest'
import { addressKey } from '../../src/guard/address-key.ts'

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::2:0:0:0:1', '2001:db8:0:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1::ffff:203.0.113.7', '1:0:0:0::/64'],
])('T-10 the address %s is limited as %s', (address, key) => {
  expect(addressKey(address)).toBe(key)
})

it.each([
  '',
  'unknown',
  '203.0.113.7:4711',
  '203.0.113.007',
  '[2001:db8::1]',
  '2001:db8::1::2',
  '::1%a]/b',
  'x'.repeat(99),
])('T-10 %j is not an address, and shares one limit with all such text', (text) => {
  expect(addressKey(text)).toBe(addressKey('no address'))
})
