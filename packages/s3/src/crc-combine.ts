// The CRC of concatenated bytes, from the CRCs of the parts. A CRC is a polynomial over GF(2) modulo another one, here
// with its bits reversed: the highest bit is the coefficient of x^0. Each zero byte appended multiplies it by x^8.

export interface Polynomial {
  bits: 32 | 64
  /** Reversed, without the highest coefficient. */
  value: bigint
}

export const CRC32: Polynomial = { bits: 32, value: 0xedb88320n }
export const CRC32C: Polynomial = { bits: 32, value: 0x82f63b78n }
export const CRC64NVME: Polynomial = { bits: 64, value: 0x9a6c9329ac4bc9b5n }

/** Valid for CRCs that begin with all bits set and are inverted at the end, like all of these. */
export function combineCrcs(polynomial: Polynomial, parts: readonly { crc: bigint; size: number }[]): bigint {
  // Nearly all parts of an upload have the same size.
  const powers = new Map<number, bigint>()
  let whole = 0n
  for (const { crc, size } of parts) {
    const power = powers.get(size) ?? powerOfX(polynomial, BigInt(size) * 8n)
    powers.set(size, power)
    whole = multiply(polynomial, power, whole) ^ crc
  }
  return whole
}

function powerOfX(polynomial: Polynomial, exponent: bigint): bigint {
  const one = 1n << BigInt(polynomial.bits - 1)
  let power = one
  for (const bit of exponent.toString(2)) {
    power = multiply(polynomial, power, power)
    if (bit === '1') power = timesX(polynomial, power)
  }
  return power
}

function multiply(polynomial: Polynomial, a: bigint, b: bigint): bigint {
  let product = 0n
  let shifted = b
  for (let mask = 1n << BigInt(polynomial.bits - 1); mask > 0n; mask >>= 1n) {
    if (a & mask) product ^= shifted
    shifted = timesX(polynomial, shifted)
  }
  return product
}

function timesX({ value }: Polynomial, a: bigint): bigint {
  return a & 1n ? (a >> 1n) ^ value : a >> 1n
}
