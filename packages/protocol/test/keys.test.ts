import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha512 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ed25519Signer, ed25519Verifier } from '#crypto'
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
import { bytes32, littleEndian } from './scalars.ts'

const { Point } = ed25519
const ORDER = Point.Fn.ORDER
const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })
const message = asciiBytes('a message')

describe('Ed25519', () => {
  it('ENV-02 verifies what was signed, and nothing with a changed byte', () => {
    fc.assert(
      fc.property(
        seed,
        fc.uint8Array({ maxLength: 100 }),
        fc.nat(63),
        fc.integer({ min: 1, max: 255 }),
        (key, text, at, flip) => {
          const signer = ed25519Signer(key)
          const verifier = ed25519PublicKey(signer.publicKey)!
          const signature = signer.sign(text)
          expect(verifier.verify(text, signature)).toBe(true)
          expect(verifier.verify(concat(text, Uint8Array.of(1)), signature)).toBe(false)
          signature[at]! ^= flip
          expect(verifier.verify(text, signature)).toBe(false)
        },
      ),
      { numRuns: 30 },
    )
  })

  it('gives the same signature in both implementations', () => {
    fc.assert(
      fc.property(seed, fc.uint8Array(), (key, text) => {
        expect(toHex(ed25519Signer(key).sign(text))).toBe(toHex(noble.ed25519Signer(key).sign(text)))
      }),
      { numRuns: 20 },
    )
  })

  it('OPER-01 refuses all keys of small order', () => {
    expect(ED25519_TORSION_SUBGROUP).toHaveLength(8)
    for (const hex of ED25519_TORSION_SUBGROUP) expect(ed25519PublicKey(fromHex(hex)!)).toBeNull()
  })

  it.each([
    ['y = p, a second encoding of 0', 'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
    ['y = p + 1, a second encoding of 1', 'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
    ['y = p + 3', 'f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
    ['negative zero', '0100000000000000000000000000000000000000000000000000000000000080'],
    ['all ones', 'ff'.repeat(32)],
    ['not on the curve', `02${'00'.repeat(31)}`],
    ['too short', '01'.repeat(31)],
    ['too long', '01'.repeat(33)],
  ])('OPER-01 refuses %s', (_, hex) => {
    expect(ed25519PublicKey(fromHex(hex)!)).toBeNull()
  })

  it('OPER-01 refuses text that is not base58 of 32 bytes', () => {
    for (const text of ['', '0OIl', 'abc', '1'.repeat(31), '1'.repeat(10_000), '🙂']) {
      expect(ed25519PublicKeyFromBase58(text)).toBeNull()
    }
  })

  it('ENV-17 refuses S that is not below the group order', () => {
    const signer = ed25519Signer(new Uint8Array(32).fill(7))
    const signature = signer.sign(message)
    const s = littleEndian(signature.subarray(32)) + ORDER
    const malleated = concat(signature.subarray(0, 32), bytes32(s))
    expect(ed25519PublicKey(signer.publicKey)!.verify(message, malleated)).toBe(false)
  })

  it('ENV-17 refuses signatures of another length', () => {
    const signer = ed25519Signer(new Uint8Array(32).fill(7))
    const key = ed25519PublicKey(signer.publicKey)!
    for (const length of [0, 63, 65]) expect(key.verify(message, new Uint8Array(length))).toBe(false)
  })

  // A key with a small-order part lets its owner make signatures that are valid only when multiplied by the cofactor.
  it('ENV-17 refuses in both implementations what is valid only with the cofactor', () => {
    for (const hex of ED25519_TORSION_SUBGROUP.slice(1)) {
      const torsion = Point.fromHex(hex)
      if (torsion.is0()) continue
      const secret = 12345n
      const publicKey = Point.BASE.multiply(secret).add(torsion).toBytes()
      for (let nonce = 1n; nonce <= 4n; nonce++) {
        const r = Point.BASE.multiply(nonce).toBytes()
        const k = littleEndian(sha512(concat(r, publicKey, message))) % ORDER
        const signature = concat(r, bytes32((nonce + k * secret) % ORDER))
        const holdsWithoutCofactor = torsion.multiplyUnsafe(k).is0()
        expect(ed25519.verify(signature, message, publicKey)).toBe(true)
        expect(ed25519Verifier(publicKey).verify(message, signature)).toBe(holdsWithoutCofactor)
        expect(noble.ed25519Verifier(publicKey).verify(message, signature)).toBe(holdsWithoutCofactor)
      }
    }
  })
})

describe('personal sign', () => {
  const key = new Uint8Array(32).fill(9)
  const address = evmAddressOf(key)
  const signature = personalSign(message, key)

  it('ENV-03 recovers the signer from every accepted form', () => {
    const v = Number.parseInt(signature.slice(-2), 16)
    const recovery = (v - 27).toString(16).padStart(2, '0')
    for (const form of [
      signature,
      signature.slice(2),
      signature.toUpperCase().replace('0X', '0x'),
      signature.slice(0, -2) + recovery,
    ]) {
      expect(recoverPersonalSigner(message, form)).toBe(address)
    }
  })

  it('ENV-03 recovers another signer or none from another message or signature', () => {
    expect(recoverPersonalSigner(utf8('another'), signature)).not.toBe(address)
    for (const bad of [
      '',
      '0x',
      signature.slice(0, -2),
      `${signature}00`,
      `${signature.slice(0, -2)}1d`,
      `${signature.slice(0, -2)}ff`,
      `0x${'00'.repeat(65)}`,
      'zz'.repeat(65),
    ]) {
      expect(recoverPersonalSigner(message, bad)).toBeNull()
    }
  })

  it('ENV-17 refuses the equivalent signature with a high s', () => {
    const s = BigInt(`0x${signature.slice(66, 130)}`)
    const high = (secp256k1.Point.Fn.ORDER - s).toString(16).padStart(64, '0')
    const flipped = signature.endsWith('1b') ? '1c' : '1b'
    expect(recoverPersonalSigner(message, signature.slice(0, 66) + high + flipped)).toBeNull()
  })

  it('ENV-03 ENV-17 T-14 accepts with a known key exactly what recovers to it', { tags: ['nightly'] }, () => {
    const isSignedBy = personalVerifier(recoverPersonalKey(message, signature) as Uint8Array)
    const order = secp256k1.Point.Fn.ORDER
    const hex = (value: bigint) => value.toString(16).padStart(64, '0')
    const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)]
    const flipped = v === '1b' ? '1c' : '1b'
    const negative = hex(order - BigInt(`0x${s}`))
    const forms = [r + s + v, r + s + flipped, r + negative + v, r + negative + flipped, `0x${r}${s}1d`, s + r + v]
    const zeros = [hex(0n) + s + v, r + hex(0n) + v, hex(order) + s + v, hex(order - 1n) + s + v, '']
    for (const form of [...forms, ...zeros]) {
      expect(isSignedBy(message, form)).toBe(recoverPersonalSigner(message, form) === address)
    }
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

  it('ENV-11 determines the algorithm of an identity by its form', () => {
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
  ])('ADD-07 at %i only the key of that time may have signed', (time, ofFirst, ofSecond) => {
    expect([isKeyOfTime(first, all, time), isKeyOfTime(second, all, time)]).toEqual([ofFirst, ofSecond])
  })

  it('ADD-07 both keys may have signed for ten minutes around the change', () => {
    for (const time of [2_000_000 - 600, 2_000_000, 2_000_000 + 600]) {
      expect([isKeyOfTime(first, all, time), isKeyOfTime(second, all, time)]).toEqual([true, true])
    }
    expect(isKeyOfTime(second, all, 2_000_000 - 601)).toBe(false)
    expect(isKeyOfTime(first, all, 2_000_000 + 601)).toBe(false)
  })

  it('ADD-07 the first key may have signed before the list began', () => {
    expect([isKeyOfTime(first, all, 5), isKeyOfTime(second, all, 5)]).toEqual([true, false])
  })

  it('a key without limits may have signed at any time, and is then the first of the list', () => {
    const always = { validFrom: null, validTo: null }
    expect([isKeyOfTime(always, [always], 5), isKeyOfTime(first, [always, first], 5)]).toEqual([true, false])
  })
})
