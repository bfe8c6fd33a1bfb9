import { utf8 } from '@svc/protocol/bytes'
import { evmAddressOf, personalSign } from '@svc/protocol/keys'
import { describe, expect, it } from 'vitest'
import { createPersonalCheck } from '../../src/guard/personal-check.ts'
import { createSignatureThread } from '../../src/guard/signature-thread.ts'

const key = (byte: number) => new Uint8Array(32).fill(byte)
const address = evmAddressOf(key(1))

describe('signatures of EVM owners', () => {
  it("ENV-03 have the same verdict before and after the owner's key is cached", () => {
    const isSignedBy = createPersonalCheck()
    for (let i = 0; i < 12; i++) {
      const message = utf8(`request ${i}`)
      const signature = personalSign(message, key(1))
      const flipped = signature.slice(0, -2) + (signature.endsWith('1b') ? '1c' : '1b')
      expect(isSignedBy(address, message, signature)).toBe(true)
      expect(isSignedBy(address, message, flipped)).toBe(false)
      expect(isSignedBy(address, utf8('another request'), signature)).toBe(false)
      expect(isSignedBy(address, message, personalSign(message, key(2)))).toBe(false)
      expect(isSignedBy(evmAddressOf(key(2)), message, signature)).toBe(false)
    }
  })

  it('ENV-03 are checked in a thread, which answers each question separately', async () => {
    const ask = createSignatureThread()
    const signed = Array.from({ length: 10 }, (_, i) => {
      const message = utf8(`request ${i}`)
      return { identity: address, message, signature: personalSign(message, key(i % 2 === 0 ? 1 : 2)) }
    })
    const answers = await Promise.all(signed.map(async (one) => ask([one])))
    expect(answers).toEqual(signed.map((_, i) => [i % 2 === 0]))
    expect(await ask([{ identity: address, message: utf8('x'), signature: 'no signature' }])).toEqual([false])
  })
})
