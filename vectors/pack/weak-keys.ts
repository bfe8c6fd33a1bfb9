// Signatures for which the curve equation holds, although the key or R is of small order or not canonical.

import { createHash } from 'node:crypto'
import { bundleOf } from './bundles.ts'
import { type Case, PINNED, UNSIGNED } from './case.ts'
import { sha256 } from './formats.ts'
import { keyOf, type PackKey, STATEMENT_KEY } from './keys.ts'

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n
/** The neutral element, and its y plus the field prime. */
const NEUTRAL = `01${'00'.repeat(31)}`
const NEUTRAL_PLUS_P = `ee${'ff'.repeat(30)}7f`

const number = (littleEndian: Uint8Array) => BigInt(`0x${Buffer.from(littleEndian).reverse().toString('hex')}`)
const hexOf = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse().toString('hex')
const sha512 = (...parts: Uint8Array[]) => createHash('sha512').update(Buffer.concat(parts)).digest()

/** The secret number of a key of the pack. */
function scalarOf(label: string): bigint {
  const half = sha512(Buffer.from(sha256(`svc-test-key/${label}`), 'hex')).subarray(0, 32)
  half[0] = (half[0] as number) & 248
  half[31] = ((half[31] as number) & 63) | 64
  return number(half)
}

/** A key that is the neutral element: any point and its secret number are a signature of every message. */
function neutralKey(hex: string): PackKey {
  const signature = keyOf('weak').hex + hexOf(scalarOf('weak') % ORDER)
  return { hex, base58: '', id: `ed25519:${hex.slice(0, 16)}`, sign: () => signature }
}

/** The right key, with R as the neutral element. */
function withNeutralR(r: string): PackKey {
  const sign = (message: Uint8Array) => {
    const challenge = number(sha512(Buffer.from(r + STATEMENT_KEY.hex, 'hex'), message))
    return r + hexOf((challenge * scalarOf('statement')) % ORDER)
  }
  return { ...STATEMENT_KEY, sign }
}

function signed(name: string, what: string, key: PackKey): Case {
  return { name: `weak-${name}`, what, document: bundleOf({ key }), given: PINNED, expect: UNSIGNED }
}

export const WEAK_KEYS: Case[] = [
  signed('key-small', 'a key of small order with a signature that looks ordinary', neutralKey(NEUTRAL)),
  signed('key-not-canonical', 'the same key with y above the field prime', neutralKey(NEUTRAL_PLUS_P)),
  signed('r-small', 'the right key, and an R of small order', withNeutralR(NEUTRAL)),
  signed('r-not-canonical', 'the right key, and the same R with y above the field prime', withNeutralR(NEUTRAL_PLUS_P)),
]
