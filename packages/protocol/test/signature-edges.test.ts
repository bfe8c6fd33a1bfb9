// Signatures at the edges of their curves, made by rule: each verdict must be that of the rule, in every implementation.

import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { describe, expect, it } from 'vitest'
import { concat, fromHex, toHex, utf8 } from '../src/bytes.ts'
import * as noble from '../src/crypto-noble.ts'
import {
  digestVerifier,
  ed25519PublicKey,
  evmAddressOf,
  isEd25519SignedBy,
  personalSign,
  personalVerifier,
  recoverKey,
  recoverPersonalKey,
  recoverPersonalSigner,
} from '../src/keys.ts'
import { bytes32, isValidByRule, littleEndian } from './ed25519-rule.ts'

const { Point } = ed25519
const PRIME = Point.Fp.ORDER
const ORDER = Point.Fn.ORDER
const SIGN = 2n ** 255n
const TORSION = ED25519_TORSION_SUBGROUP.map((hex) => Point.fromHex(hex))

/** Every encoding of the eight points of small order: y below or beyond the prime, with either sign. */
const SMALL_ORDER = [...new Set(TORSION.map((point) => point.toAffine().y))]
  .flatMap((y) => [y, y + PRIME])
  .filter((y) => y < SIGN)
  .flatMap((y) => [bytes32(y), bytes32(y | SIGN)])

interface Signed {
  publicKey: Uint8Array
  message: Uint8Array
  signature: Uint8Array
}

async function verdicts({ publicKey, message, signature }: Signed): Promise<boolean[]> {
  const key = ed25519PublicKey(publicKey)
  return [
    key?.verify(message, signature) ?? false,
    (await key?.verifySoon(message, signature)) ?? false,
    isEd25519SignedBy(publicKey, message, signature),
    key !== null && noble.ed25519Verifier(publicKey).verify(message, signature),
  ]
}

async function isValid(signed: Signed): Promise<boolean> {
  const expected = isValidByRule(signed)
  const { publicKey, signature } = signed
  expect(await verdicts(signed), `${toHex(publicKey)} ${toHex(signature)}`).toEqual(Array(4).fill(expected))
  return expected
}

/**
 * By a secret and a nonce, with points of small order added to both A and R: the equation without the cofactor holds
 * where those two cancel out, for about every eighth message. With no nonce, R itself is of small order.
 */
function signedWith(ofKey: InstanceType<typeof Point>, ofR: InstanceType<typeof Point>, nonce = 987_654_321n): Signed {
  const secret = 123_456_789n
  const publicKey = Point.BASE.multiply(secret).add(ofKey).toBytes()
  const r = Point.BASE.multiplyUnsafe(nonce).add(ofR).toBytes()
  let signed: Signed | undefined
  for (let i = 0; i < 100; i++) {
    const message = utf8(`message ${i}`)
    const k = littleEndian(sha512(concat(r, publicKey, message))) % ORDER
    const made = { publicKey, message, signature: concat(r, bytes32((nonce + k * secret) % ORDER)) }
    if (ofR.add(ofKey.multiplyUnsafe(k % 8n)).is0()) return made
    signed ??= made
  }
  return signed!
}

describe('Ed25519 at its edges', () => {
  it('T-52 ADD-04 a key or an R of small order is refused in every encoding', async () => {
    expect(SMALL_ORDER).toHaveLength(14)
    const good = signedWith(Point.ZERO, Point.ZERO)
    expect(await isValid(good)).toBe(true)
    const s = good.signature.subarray(32)
    for (const small of SMALL_ORDER) {
      for (const other of [...SMALL_ORDER, good.signature.subarray(0, 32)]) {
        // With S = 0, the equation holds for many of them.
        const forged = { ...good, publicKey: small, signature: concat(other, new Uint8Array(32)) }
        expect(await isValid(forged)).toBe(false)
      }
      expect(await isValid({ ...good, signature: concat(small, s) })).toBe(false)
    }
    // Where R cancels out the part of small order in A, the equation holds, and libraries accept it.
    const made = TORSION.flatMap((ofR) => TORSION.map((ofKey) => signedWith(ofKey, ofR, 0n)))
    const holding = made.filter(({ signature, message, publicKey }) => ed25519.verify(signature, message, publicKey))
    expect(new Set(holding.map(({ signature }) => toHex(signature.subarray(0, 32)))).size).toBe(8)
    for (const signed of holding) expect(await isValid(signed)).toBe(false)
  })

  it('T-52 ADD-04 small-order parts of A and R count, since the cofactor is not multiplied in', {
    tags: ['nightly'],
  }, async () => {
    const found: boolean[] = []
    for (const ofKey of TORSION) for (const ofR of TORSION) found.push(await isValid(signedWith(ofKey, ofR)))
    // Without a part in A, only R without one; an A with a part of order 2, 4 or 8 cancels out as many in R.
    expect(found.filter(Boolean).length).toBeGreaterThan(8)
    expect(found.filter((one) => !one).length).toBeGreaterThan(8)
  })

  it('T-52 ADD-04 no second S, no other encoding of A and R, and nothing of another length', async () => {
    const { publicKey, message, signature } = signedWith(Point.ZERO, Point.ZERO)
    const [r, s] = [signature.subarray(0, 32), signature.subarray(32)]
    const scalars = [0n, 1n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 252n, 2n ** 253n, 2n ** 255n, 2n ** 256n - 1n]
    const others = Array.from({ length: 15 }, (_, i) => littleEndian(s) + ORDER * BigInt(i + 1)).filter(
      (n) => n < 2n ** 256n,
    )
    for (const scalar of [...scalars, ...others])
      expect(await isValid({ publicKey, message, signature: concat(r, bytes32(scalar)) })).toBe(false)
    for (let y = PRIME; y < SIGN; y++) {
      for (const encoding of [bytes32(y), bytes32(y | SIGN)]) {
        expect(await isValid({ publicKey: encoding, message, signature })).toBe(false)
        expect(await isValid({ publicKey, message, signature: concat(encoding, s) })).toBe(false)
      }
    }
    const flipped = (bytes: Uint8Array) => bytes.with(31, (bytes[31] as number) ^ 0x80)
    expect(await isValid({ publicKey: flipped(publicKey), message, signature })).toBe(false)
    expect(await isValid({ publicKey, message, signature: concat(flipped(r), s) })).toBe(false)
    const more = Uint8Array.of(0)
    for (const other of [new Uint8Array(), r, signature.subarray(1), concat(signature, more), concat(more, signature)])
      expect(await isValid({ publicKey, message, signature: other })).toBe(false)
    for (const other of [new Uint8Array(), publicKey.subarray(1), concat(publicKey, more)])
      expect(await isValid({ publicKey: other, message, signature })).toBe(false)
  })
})

describe('secp256k1 at its edges', () => {
  const { Point: EvmPoint } = secp256k1
  const N = EvmPoint.Fn.ORDER
  const P = EvmPoint.Fp.ORDER
  const key = new Uint8Array(32).fill(9)
  const address = evmAddressOf(key)
  const message = utf8('a message')
  const good = personalSign(message, key)
  const [r, s, v] = [good.slice(2, 66), good.slice(66, 130), good.slice(130)]
  const isSignedBy = personalVerifier(recoverPersonalKey(message, good) as Uint8Array)
  const hex = (value: bigint, length = 64) => value.toString(16).padStart(length, '0')

  /** Who signed by recovery, which the check with a known key must agree with. */
  function signer(signature: string): string | null {
    const recovered = recoverPersonalSigner(message, signature)
    expect(isSignedBy(message, signature), signature).toBe(recovered === address)
    return recovered
  }

  it('T-52 ENV-03 takes v as 0, 1, 27 and 28, and no other byte', () => {
    const parity = Number.parseInt(v, 16) - 27
    const accepted = Array.from({ length: 256 }, (_, byte) => byte).filter(
      (byte) => signer(r + s + hex(BigInt(byte), 2)) !== null,
    )
    expect(accepted).toEqual([0, 1, 27, 28])
    expect(accepted.map((byte) => signer(r + s + hex(BigInt(byte), 2)) === address)).toEqual(
      accepted.map((byte) => byte % 27 === parity),
    )
    // EIP-155: the id of the chain is in v.
    for (const chain of [1n, 137n, 8453n]) expect(signer(r + s + hex(chain * 2n + 35n, 4))).toBeNull()
  })

  it('T-52 ENV-17 refuses r and s that are not from 1 to n - 1, and s in the upper half', () => {
    const beyond = [0n, N, N + 1n, N + BigInt(`0x${r}`), P, P + 1n, 2n ** 256n - 1n].filter((n) => n < 2n ** 256n)
    const half = N / 2n
    for (const last of ['00', '01', '1b', '1c']) {
      for (const number of beyond) {
        expect(signer(hex(number) + s + last)).toBeNull()
        expect(signer(r + hex(number) + last)).toBeNull()
      }
      for (const high of [half + 1n, N - 1n, N - BigInt(`0x${s}`)]) expect(signer(r + hex(high) + last)).toBeNull()
      expect(signer(r + hex(half) + last)).not.toBe(address)
    }
    expect(BigInt(`0x${s}`) <= half).toBe(true)
  })

  it('T-52 ENV-17 refuses an r that is the x of no point', () => {
    const isX = (x: bigint) => {
      try {
        return EvmPoint.fromHex(`02${hex(x)}`) !== null
      } catch {
        return false
      }
    }
    const numbers = Array.from({ length: 12 }, (_, i) => BigInt(i + 1))
    expect(numbers.map((x) => signer(hex(x) + s + v) !== null)).toEqual(numbers.map(isX))
  })

  it('T-129 ENV-17 recovers the signer of any digest, with keys and nonces at the ends of their range', {
    tags: ['nightly'],
  }, () => {
    const bytes = (number: bigint) => fromHex(hex(number)) as Uint8Array
    const digests = [0n, 1n, N - 1n, N, N + 1n, 2n ** 255n, 2n ** 256n - 1n]
    for (const secret of [1n, 2n, N / 2n + 1n, N - 1n]) {
      const publicKey = secp256k1.getPublicKey(bytes(secret), false)
      const isSigned = digestVerifier(publicKey)
      for (const number of digests) {
        for (const nonce of [1n, 3n, N - 1n]) {
          const { x, y } = EvmPoint.BASE.multiply(nonce).toAffine()
          const full = EvmPoint.Fn.mul(EvmPoint.Fn.inv(nonce), EvmPoint.Fn.create(number + x * secret))
          // Nobody can sign with a nonce that leads to no s.
          if (full === 0n) continue
          const isHigh = full > N / 2n
          const parity = (y % 2n) ^ (isHigh ? 1n : 0n)
          const made = (s: bigint, v: bigint) => hex(x % N) + hex(s) + hex(v, 2)
          const low = isHigh ? N - full : full
          const digest = bytes(number)
          const verdicts = [made(low, parity), made(low, parity ^ 1n), made(N - low, parity ^ 1n)].map((signature) => [
            toHex(recoverKey(digest, signature) ?? new Uint8Array()) === toHex(publicKey),
            isSigned(digest, signature),
          ])
          expect(verdicts, `${secret} ${number} ${nonce}`).toEqual([
            [true, true],
            [false, false],
            [false, false],
          ])
        }
      }
    }
  })

  it('T-52 ENV-17 takes 65 bytes and no other form: no DER, no compact form, no second spelling', () => {
    const der = (one: string, two: string) => {
      const integer = (digits: string) => `02${hex(BigInt(digits.length / 2), 2)}${digits}`
      const body = integer(one) + integer(two)
      return `30${hex(BigInt(body.length / 2), 2)}${body}`
    }
    const compact = r + hex(BigInt(`0x${s}`) | (v === '1c' ? SIGN : 0n))
    const ders = [der(r, s), der(`00${r}`, s), der(r, `00${s}`), der(`00${r}`, `00${s}`)]
    const forms = [...ders, compact, r + s, r + s + v + v, `0X${r}${s}${v}`, `0x0x${r}${s}${v}`]
    const spelled = [` ${good}`, `${good} `, `${good}\n`, good.slice(0, -1), `0x0${good.slice(2)}`, 'zz'.repeat(65)]
    for (const form of [...forms, ...spelled, '', '0x', v + r + s]) expect(signer(form), form).toBeNull()
    for (const form of [good, good.slice(2), good.toUpperCase().replace('0X', '0x')]) expect(signer(form)).toBe(address)
  })
})
