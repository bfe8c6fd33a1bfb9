// Parts in slots of one length, for providers that store an object as one row of bytes: part 3 begins after three parts
// of full length.

import type { NewPart, WrittenPart } from './provider.ts'

/** The limit of S3, and the largest useful index elsewhere. */
export const MAX_PARTS = 10_000

/** The start of the part's slot; null when it fits in none. */
export function slotOf({ index, size, maxBytes }: NewPart, partBytes: number): number | null {
  const start = index * partBytes
  return size > partBytes || index >= MAX_PARTS || start + size > maxBytes ? null : start
}

export function totalSize(parts: readonly WrittenPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0)
}

/** The start of each part when they are stored one after the other. */
export function startsOf(parts: readonly WrittenPart[]): number[] {
  let end = 0
  return parts.map(({ size }) => {
    end += size
    return end - size
  })
}

/** Whether the parts fill their slots, without gaps. */
export function areAdjacent(parts: readonly WrittenPart[], partBytes: number): boolean {
  return parts.every(({ index, size }, i) => index === i && (size === partBytes || i === parts.length - 1))
}

/** The end of the last slot that has a part. */
export function endOf(parts: readonly WrittenPart[]): number {
  return parts.reduce((end, { size, ref }) => Math.max(end, Number(ref) + size), 0)
}

/** With fewer bytes in a chunk, a copy is cheaper. */
const MIN_CHUNK_BYTES = 128 * 1024

/** The largest chunk length that divides the part length; null when none is useful. */
export function chunkBytesOf(partBytes: number, maxChunkBytes: number): number | null {
  for (let count = Math.ceil(partBytes / maxChunkBytes); partBytes / count >= MIN_CHUNK_BYTES; count++) {
    if (partBytes % count === 0) return partBytes / count
  }
  return null
}
