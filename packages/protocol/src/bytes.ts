// Strict text encodings of bytes: each byte string has exactly one accepted text.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { base58 as base58Coder, base64 as base64Coder, base64urlnopad } from '@scure/base'

export { fromBase58, fromBase64Url } from './decoders.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const toHex: (bytes: Uint8Array) => string = bytesToHex
export const toBase58: (bytes: Uint8Array) => string = base58Coder.encode
export const toBase64Url: (bytes: Uint8Array) => string = base64urlnopad.encode
export const toBase64: (bytes: Uint8Array) => string = base64Coder.encode

/** Decodes lowercase hex of exactly `length` bytes (any length if omitted), else null. */
export function fromHex(text: string, length?: number): Uint8Array | null {
  return isHex(text, length) ? hexToBytes(text) : null
}

export function isHex(text: string, length = text.length / 2): boolean {
  return text.length === length * 2 && /^(?:[0-9a-f]{2})*$/.test(text)
}

/** Decodes standard base64 with padding and without stray bits, as nodes of the primary chain send it, else null. */
export function fromBase64(text: string): Uint8Array | null {
  return attempt(() => base64Coder.decode(text))
}

/** Encodes well-formed text as UTF-8. Throws on a lone surrogate, which has no UTF-8 form, instead of replacing it. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  if (!text.isWellFormed()) throw new RangeError('text contains a lone surrogate')
  return encoder.encode(text)
}

export function fromUtf8(bytes: Uint8Array): string | null {
  return attempt(() => decoder.decode(bytes))
}

export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0))
}

export function concat(...parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

const PREFIX = 'sha256:'

/** Adds the prefix `sha256:` to a bare digest, as in published roots and content hashes (GEN-04). */
export function withPrefix(bareHash: string): string {
  return PREFIX + bareHash
}

/** Removes the prefix `sha256:` from a digest, if it has one (Merkle rule 2). */
export function bare(hash: string): string {
  return hash.startsWith(PREFIX) ? hash.slice(PREFIX.length) : hash
}

function attempt<T>(decode: () => T): T | null {
  try {
    return decode()
  } catch {
    return null
  }
}
