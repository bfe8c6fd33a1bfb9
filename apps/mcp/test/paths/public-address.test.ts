import { describe, expect, it } from 'vitest'
import { isPublic, readPublic } from '../../src/paths/public-address.ts'

describe('public addresses', () => {
  it.each(['93.184.216.34', '8.8.8.8', '2606:4700::1111'])('T-08 %s is one', (address) => {
    expect(isPublic(address)).toBe(true)
  })

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.31.0.1',
    '192.168.1.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'fc00::1',
    'fe80::1',
    'ff02::1',
    'example.com',
  ])('T-08 %s is none', (address) => {
    expect(isPublic(address)).toBe(false)
  })

  it('T-08 a name is looked up, and what it means is looked at', async () => {
    const signal = new AbortController().signal
    await expect(readPublic(new URL('https://localhost:9/'), signal)).rejects.toThrow('not a public https address')
  })
})
