// Which Ed25519 signatures are refused whatever the curve says (ADD-04). Libraries, and versions of one library, disagree
// about them: OpenSSL refuses an R of small order since version 3.5 and accepted it before. Comparing bytes is enough to
// find them, so a check costs nothing beside the signature itself.

import { concat, equalBytes, fromHex } from './bytes.ts'

const FIELD_PRIME = littleEndian('7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed')
const GROUP_ORDER = littleEndian('1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed')

/** The y coordinates of the eight points whose order divides the cofactor. Points that differ in the sign of x share one. */
const SMALL_ORDER_Y = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000001',
  '7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec',
  '05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826',
  '7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7',
].map(littleEndian)

/** Whether a signature is 64 bytes: an R in its one encoding and not of small order, then an S below the group order. */
export function isStrictSignature(signature: Uint8Array): boolean {
  if (signature.length !== 64) return false
  // A copy also of a Buffer, whose `slice` is not one.
  const y = new Uint8Array(signature.subarray(0, 32))
  y[31] = (y[31] as number) & 0x7f
  if (!isBelow(y, FIELD_PRIME) || !isBelow(signature.subarray(32), GROUP_ORDER)) return false
  return !SMALL_ORDER_Y.some((small) => equalBytes(small, y))
}

/** Whether 32 bytes, if they are a point at all, are its one encoding, and it is not of small order: the rules of an R. */
export function isStrictEncoding(point: Uint8Array): boolean {
  return point.length === 32 && isStrictSignature(concat(point, new Uint8Array(32)))
}

/** Compares two little-endian numbers of the same length. */
function isBelow(value: Uint8Array, limit: Uint8Array): boolean {
  for (let i = limit.length - 1; i >= 0; i--) {
    const difference = (value[i] as number) - (limit[i] as number)
    if (difference !== 0) return difference < 0
  }
  return false
}

function littleEndian(hex: string): Uint8Array {
  return (fromHex(hex, 32) as Uint8Array).reverse()
}
