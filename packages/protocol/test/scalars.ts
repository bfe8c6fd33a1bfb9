// For tests: numbers of the curve as bytes, the lowest byte first.

import { fromHex, toHex } from '../src/bytes.ts'

export function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(Uint8Array.from(bytes).reverse())}`)
}

export function bytes32(value: bigint): Uint8Array {
  return fromHex(value.toString(16).padStart(64, '0'))!.reverse()
}
