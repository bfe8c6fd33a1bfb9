// Ed25519 signatures that are refused even if the curve equation holds (ADD-04). Libraries and their versions disagree
// about them: OpenSSL accepted an R of small order before version 3.5 and refuses it since. Comparing bytes detects
// them, so the check costs almost nothing compared with the verification.

import { concat, equalBytes, fromHex } from './bytes.ts'

const FIELD_PRIME = littleEndian('7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed')
const GROUP_ORDER = littleEndian('1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed')

/**
 * The y coordinates of the eight points whose order divides the cofactor. Points that differ in the sign of x share y.
 */
const SMALL_ORDER_Y = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000001',
  '7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec',
  '05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826',
  '7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7',
].map(littleEndian)

/** Whether a signature is 64 bytes: a canonical R that is not of small order, then an S below the group order. */
export function isStrictSignature(signature: Uint8Array): boolean {
  if (signature.length !== 64) return false
  // This copies also a Buffer, whose `slice` does not copy.
  const y = new Uint8Array(signature.subarray(0, 32))
  y[31] = (y[31] as number) & 0x7f
  if (!isBelow(y, FIELD_PRIME) || !isBelow(signature.subarray(32), GROUP_ORDER)) return false
  return !SMALL_ORDER_Y.some((small) => equalBytes(small, y))
}

/** The rules for R: if the 32 bytes are a point, they are its canonical encoding and it is not of small order. */
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
