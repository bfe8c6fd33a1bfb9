import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ed25519Signer } from '#crypto'
import { asciiBytes, concat, fromHex, toHex, utf8 } from '../src/bytes.ts'
import * as noble from '../src/crypto-noble.ts'
import {
  ed25519PublicKey,
  ed25519PublicKeyFromBase58,
  evmAddressOf,
  isKeyOfTime,
  personalSign,
  personalVerifier,
  recoverPersonalKey,
  recoverPersonalSigner,
  sigAlgOf,
} from '../src/keys.ts'

const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })
const message = asciiBytes('a message')

/** Like a Buffer of Node: `slice` does not copy. */
class View extends Uint8Array {
  override slice(start?: number, end?: number): Uint8Array<ArrayBuffer> {
    return this.subarray(start, end)
  }
}

describe('Ed25519', () => {
  it('ENV-02 ADD-04 verifies signatures in any kind of byte array, and none with a changed byte', () => {
    fc.assert(
      fc.property(seed, fc.uint8Array(), fc.nat(63), fc.integer({ min: 1, max: 255 }), (key, text, at, flip) => {
        const signer = ed25519Signer(key)
        const verifier = ed25519PublicKey(signer.publicKey)!
        const signature = signer.sign(text)
        expect(toHex(signature)).toBe(toHex(noble.ed25519Signer(key).sign(text)))
        const view = View.from(signature)
        expect([verifier.verify(text, view), toHex(view)]).toEqual([true, toHex(signature)])
        expect(verifier.verify(concat(text, Uint8Array.of(1)), signature)).toBe(false)
        signature[at]! ^= flip
        expect(verifier.verify(text, signature)).toBe(false)
      }),
      { numRuns: 30 },
    )
  })

  it('OPER-01 refuses text that is not base58 of 32 bytes', () => {
    for (const text of ['', '0OIl', 'abc', '1'.repeat(31), '1'.repeat(10_000), '🙂']) {
      expect(ed25519PublicKeyFromBase58(text)).toBeNull()
    }
  })
})

describe('personal sign', () => {
  const key = new Uint8Array(32).fill(9)
  const address = evmAddressOf(key)
  const signature = personalSign(message, key)

  it('ENV-03 recovers the signer only from the signed message', () => {
    expect(recoverPersonalSigner(message, signature)).toBe(address)
    expect(recoverPersonalSigner(utf8('another'), signature)).not.toBe(address)
  })

  it('ENV-03 T-14 accepts with a known key exactly the signatures that recover to it', { tags: ['nightly'] }, () => {
    const isSignedBy = personalVerifier(recoverPersonalKey(message, signature) as Uint8Array)
    const other = personalSign(message, new Uint8Array(32).fill(8))
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat({ max: 64 }), fc.nat({ max: 255 }), (text, at, byte) => {
        const good = personalSign(text, key)
        const changed = fromHex(good.slice(2), 65) as Uint8Array
        changed[at] = byte
        expect(isSignedBy(text, good)).toBe(true)
        expect(isSignedBy(text, toHex(changed))).toBe(recoverPersonalSigner(text, toHex(changed)) === address)
        expect(isSignedBy(text, signature)).toBe(recoverPersonalSigner(text, signature) === address)
        expect(isSignedBy(text, other)).toBe(false)
      }),
      { numRuns: 30 },
    )
  })

  it('ENV-11 determines the algorithm of an identity from its form', () => {
    expect(sigAlgOf(address)).toBe('secp256k1')
    expect(sigAlgOf('FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe')).toBe('ed25519')
  })
})

describe('isKeyOfTime', () => {
  const first = { validFrom: 1_000_000, validTo: 2_000_000 }
  const second = { validFrom: 2_000_000, validTo: null }
  const all = [first, second]

  it.each([
    [1_500_000, true, false],
    [2_500_000, false, true],
  ])('ADD-07 accepts at %i only the key of that time', (time, ofFirst, ofSecond) => {
    expect([isKeyOfTime(first, all, time), isKeyOfTime(second, all, time)]).toEqual([ofFirst, ofSecond])
  })

  it('ADD-07 accepts both keys for ten minutes around the change', () => {
    for (const time of [2_000_000 - 600, 2_000_000, 2_000_000 + 600]) {
      expect([isKeyOfTime(first, all, time), isKeyOfTime(second, all, time)]).toEqual([true, true])
    }
    expect(isKeyOfTime(second, all, 2_000_000 - 601)).toBe(false)
    expect(isKeyOfTime(first, all, 2_000_000 + 601)).toBe(false)
  })

  it('ADD-07 accepts the first key before the list began', () => {
    expect([isKeyOfTime(first, all, 5), isKeyOfTime(second, all, 5)]).toEqual([true, false])
  })

  it('accepts a key without limits at any time, as the first of the list', () => {
    const always = { validFrom: null, validTo: null }
    expect([isKeyOfTime(always, [always], 5), isKeyOfTime(first, [always, first], 5)]).toEqual([true, false])
  })
})
