import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { describe, expect, it } from 'vitest'
import { ed25519Verifier } from '#crypto'
import { concat, toHex, utf8 } from '../src/bytes.ts'
import * as noble from '../src/crypto-noble.ts'
import { isStrictSignature } from '../src/ed25519-strict.ts'
import { ed25519PublicKey, isEd25519SignedBy } from '../src/keys.ts'
import { bytes32, littleEndian } from './scalars.ts'

const { Point } = ed25519
const ORDER = Point.Fn.ORDER
const PRIME = Point.Fp.ORDER
const SECRET = 1_234_567n
const SIGN = 2n ** 255n
const TORSION = ED25519_TORSION_SUBGROUP.map((hex) => Point.fromHex(hex))

interface Signed {
  publicKey: Uint8Array
  message: Uint8Array
  signature: Uint8Array
}

/**
 * The owner of a key signs so that R is a point of small order, and the equation holds exactly: with A = a·B + torsion
 * and S = k·a, S·B - k·A is -k·torsion.
 */
function signedWith(smallR: Uint8Array, keyTorsion: InstanceType<typeof Point>): Signed | null {
  const publicKey = Point.BASE.multiply(SECRET).add(keyTorsion).toBytes()
  for (let i = 0; i < 200; i++) {
    const message = utf8(`message ${i}`)
    const k = littleEndian(sha512(concat(smallR, publicKey, message))) % ORDER
    if (
      toHex(
        keyTorsion
          .multiplyUnsafe(k % 8n)
          .negate()
          .toBytes(),
      ) === toHex(smallR)
    ) {
      return { publicKey, message, signature: concat(smallR, bytes32((k * SECRET) % ORDER)) }
    }
  }
  return null
}

/** The verdicts of the server, the same on another core, and the browser: they must be one. */
async function verdicts({ publicKey, message, signature }: Signed): Promise<boolean[]> {
  const server = ed25519Verifier(publicKey)
  return [
    server.verify(message, signature),
    await server.verifySoon(message, signature),
    noble.ed25519Verifier(publicKey).verify(message, signature),
    ed25519PublicKey(publicKey)?.verify(message, signature) ?? false,
    isEd25519SignedBy(publicKey, message, signature),
  ]
}

describe('strict Ed25519 signatures', () => {
  const made = TORSION.flatMap((small) => TORSION.map((torsion) => signedWith(small.toBytes(), torsion))).filter(
    (signed) => signed !== null,
  )

  it('ADD-04 T-52 an R of small order is refused everywhere, although the equation holds', async () => {
    const seen = new Set(made.map(({ signature }) => toHex(signature.subarray(0, 32))))
    expect([...seen].sort()).toEqual(ED25519_TORSION_SUBGROUP.toSorted())
    for (const signed of made) {
      expect(ed25519.verify(signed.signature, signed.message, signed.publicKey)).toBe(true)
      expect(await verdicts(signed)).toEqual([false, false, false, false, false])
    }
  })

  it('ADD-04 every second encoding of R is refused', () => {
    const s = bytes32(1n)
    for (let y = PRIME; y < 2n ** 255n; y++) {
      for (const sign of [0n, 1n << 255n])
        expect(isStrictSignature(concat(bytes32(y | sign), s)), String(y)).toBe(false)
    }
    expect(isStrictSignature(concat(bytes32(PRIME - 2n), s))).toBe(true)
  })

  it('ADD-04 a signature in any kind of byte array is checked and left as it is', () => {
    /** Like a Buffer of Node. */
    class View extends Uint8Array {
      override slice(start?: number, end?: number): Uint8Array<ArrayBuffer> {
        return this.subarray(start, end)
      }
    }
    const { publicKey, sign } = noble.ed25519Signer(new Uint8Array(32).fill(6))
    const key = ed25519PublicKey(publicKey)!
    for (let i = 0; i < 16; i++) {
      const message = utf8(`message ${i}`)
      const signature = View.from(sign(message))
      expect(key.verify(message, signature)).toBe(true)
      expect(toHex(signature)).toBe(toHex(sign(message)))
    }
  })

  it('ADD-04 S is accepted below the group order only', async () => {
    const { publicKey, sign } = noble.ed25519Signer(new Uint8Array(32).fill(5))
    const message = utf8('a message')
    const good = sign(message)
    const r = good.subarray(0, 32)
    const s = littleEndian(good.subarray(32))
    expect(await verdicts({ publicKey, message, signature: good })).toEqual([true, true, true, true, true])
    for (let more = s + ORDER; more < 2n ** 256n; more += ORDER) {
      const signature = concat(r, bytes32(more))
      expect(await verdicts({ publicKey, message, signature })).toEqual([false, false, false, false, false])
    }
    expect([ORDER - 1n, ORDER].map((limit) => isStrictSignature(concat(r, bytes32(limit))))).toEqual([true, false])
  })

  it('ADD-04 T-52 a key that is no point, or is one in another encoding or of small order, signs nothing', () => {
    const message = utf8('message')
    // Under a key of small order, such an equation holds for every eighth message.
    const forged = concat(Point.BASE.multiply(SECRET).toBytes(), bytes32(SECRET))
    const spellings = [0n, 1n, 2n, PRIME - 1n, PRIME, PRIME + 1n, PRIME + 3n, 2n ** 255n - 1n].flatMap((y) => [
      y,
      y | SIGN,
    ])
    for (const key of [...TORSION.map((point) => point.toBytes()), ...spellings.map(bytes32)]) {
      for (let i = 0; i < 40; i++) expect(isEd25519SignedBy(key, utf8(`message ${i}`), forged)).toBe(false)
    }
    expect(isEd25519SignedBy(new Uint8Array(31), message, forged)).toBe(false)
  })
})
