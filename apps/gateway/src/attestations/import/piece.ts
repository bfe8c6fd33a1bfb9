/** A stretch of an export that should hold one record, and where it stands; or why it could not be had. */
export type Piece = { at: string; bytes: Uint8Array } | { at: string; problem: string }

/** A record of a million files has about 150 MB. */
export const MAX_RECORD_BYTES = 256 * 1024 * 1024

export interface Gathering {
  add(bytes: Uint8Array): void
  /** What came since the last time. */
  take(at: string): Piece
}

/** Holds no more than a record may have: of a longer one only that it is too long. */
export function createGathering(maxBytes: number): Gathering {
  let parts: Uint8Array[] = []
  let length = 0
  return {
    add(bytes) {
      length += bytes.length
      if (length > maxBytes) parts = []
      else if (bytes.length > 0) parts.push(bytes)
    },
    take(at) {
      const isWhole = length <= maxBytes
      const bytes = Buffer.concat(parts)
      parts = []
      length = 0
      return isWhole ? { at, bytes } : { at, problem: `is longer than ${maxBytes} bytes` }
    },
  }
}

export function isBlank(bytes: Uint8Array): boolean {
  return bytes.every(isSpace)
}

export function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}
