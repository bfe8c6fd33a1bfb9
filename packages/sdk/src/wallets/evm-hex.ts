import { fromHex, toHex } from '@svc/protocol/bytes'

export type Hex = `0x${string}`

export const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000'

export function hexOf(bytes: Uint8Array): Hex {
  return `0x${toHex(bytes)}`
}

export function hexBytes(hex: string): Uint8Array {
  const bytes = hex.startsWith('0x') ? fromHex(hex.slice(2).toLowerCase()) : null
  if (!bytes) throw new RangeError('this is not hex with 0x')
  return bytes
}
