// For tests: a second implementation of our rule for Ed25519 signatures (ADD-04), with plain integers. It shares no
// curve arithmetic with the tested code.

import { sha512 } from '@noble/hashes/sha2.js'
import { concat, equalBytes, fromHex, toHex } from '../src/bytes.ts'

interface Signed {
  publicKey: Uint8Array
  message: Uint8Array
  signature: Uint8Array
}

const P = 2n ** 255n - 19n
const L = 2n ** 252n + 27742317777372353535851937790883648493n
const D = mod(-121665n * inverse(121666n))
const SQRT_OF_MINUS_ONE = power(2n, (P - 1n) / 4n)

interface Point {
  x: bigint
  y: bigint
}

const ZERO: Point = { x: 0n, y: 1n }
const BASE = decode(bytes32(mod(4n * inverse(5n)))) as Point

/** RFC 8032 without the cofactor. A and R are canonical and not of small order, and S is below the group order. */
export function isValidByRule({ publicKey, message, signature }: Signed): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false
  const encodedR = signature.subarray(0, 32)
  const [a, r] = [decode(publicKey), decode(encodedR)]
  const s = littleEndian(signature.subarray(32))
  if (!a || !r || s >= L || isSmallOrder(a) || isSmallOrder(r)) return false
  const k = littleEndian(sha512(concat(encodedR, publicKey, message))) % L
  return equalBytes(encode(multiply(BASE, s)), encode(add(r, multiply(a, k))))
}

/** Numbers of the curve as bytes, lowest byte first. */
export function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(Uint8Array.from(bytes).reverse())}`)
}

export function bytes32(value: bigint): Uint8Array {
  return fromHex(value.toString(16).padStart(64, '0'))!.reverse()
}

function mod(value: bigint): bigint {
  const rest = value % P
  return rest < 0n ? rest + P : rest
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (let [square, bits] = [mod(base), exponent]; bits > 0n; bits >>= 1n, square = mod(square * square)) {
    if (bits & 1n) result = mod(result * square)
  }
  return result
}

function inverse(value: bigint): bigint {
  return power(value, P - 2n)
}

/** Null for bytes that are not a point, or not the encoding that `encode` gives it. */
function decode(bytes: Uint8Array): Point | null {
  const y = littleEndian(bytes) & (2n ** 255n - 1n)
  const isOdd = littleEndian(bytes) >> 255n
  const squared = mod((y * y - 1n) * inverse(D * y * y + 1n))
  let x = power(squared, (P + 3n) / 8n)
  if (mod(x * x - squared) !== 0n) x = mod(x * SQRT_OF_MINUS_ONE)
  if (mod(x * x - squared) !== 0n) return null
  const point = { x: (x & 1n) === isOdd ? x : mod(-x), y: mod(y) }
  return equalBytes(encode(point), bytes) ? point : null
}

function encode({ x, y }: Point): Uint8Array {
  return bytes32(y | ((x & 1n) << 255n))
}

/** A point by its numerators and common denominator, which saves an inversion for each addition. */
interface Fraction {
  x: bigint
  y: bigint
  z: bigint
}

function addFractions(a: Fraction, b: Fraction): Fraction {
  const z = mod(a.z * b.z)
  const [xx, yy] = [mod(a.x * b.x), mod(a.y * b.y)]
  const zz = mod(z * z)
  const product = mod(D * xx * yy)
  const cross = mod((a.x + a.y) * (b.x + b.y) - xx - yy)
  return {
    x: mod(z * (zz - product) * cross),
    y: mod(z * (zz + product) * (yy + xx)),
    z: mod((zz - product) * (zz + product)),
  }
}

function affine({ x, y, z }: Fraction): Point {
  const denominator = inverse(z)
  return { x: mod(x * denominator), y: mod(y * denominator) }
}

function add(a: Point, b: Point): Point {
  return affine(addFractions({ ...a, z: 1n }, { ...b, z: 1n }))
}

function multiply(point: Point, factor: bigint): Point {
  let sum: Fraction = { ...ZERO, z: 1n }
  let double: Fraction = { ...point, z: 1n }
  for (let bits = factor; bits > 0n; bits >>= 1n) {
    if (bits & 1n) sum = addFractions(sum, double)
    double = addFractions(double, double)
  }
  return affine(sum)
}

function isSmallOrder(point: Point): boolean {
  const { x, y } = multiply(point, 8n)
  return x === ZERO.x && y === ZERO.y
}
