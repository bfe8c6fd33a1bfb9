// Little-endian fields of on-chain accounts and instructions.

import { concat } from './bytes.ts'

export function lengthPrefixed(bytes: Uint8Array): Uint8Array {
  return concat(u32(bytes.length), bytes)
}

export function u32(value: number): Uint8Array {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) throw new RangeError(`${value} does not fit u32`)
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value, true)
  return bytes
}

export function i64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value), true)
  return bytes
}

/** Reads forward; throws a RangeError past the end. */
export class Cursor {
  readonly #view: DataView
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  bytes(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new RangeError('cut short')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  prefixed(expected?: number): Uint8Array {
    const length = this.u32()
    if (expected !== undefined && length !== expected) throw new RangeError('field has the wrong size')
    return this.bytes(length)
  }

  u8(): number {
    return this.#view.getUint8(this.#at++)
  }

  u32(): number {
    this.#at += 4
    return this.#view.getUint32(this.#at - 4, true)
  }

  i64(): number {
    this.#at += 8
    const value = this.#view.getBigInt64(this.#at - 8, true)
    if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < 0n) throw new RangeError('not a time')
    return Number(value)
  }

  /** The remaining bytes, without moving forward. */
  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at)
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }
}
