// Parts in places of one length, for providers that store an object as one row of bytes: part 3 begins where three parts
// of full length end.

import type { NewPart, WrittenPart } from './provider.ts'

/** The limit of S3, and the highest that is useful elsewhere. */
export const MAX_PARTS = 10_000

/** Null when the part fits in no place. */
export function placeOf({ index, size, maxBytes }: NewPart, partBytes: number): number | null {
  const start = index * partBytes
  return size > partBytes || index >= MAX_PARTS || start + size > maxBytes ? null : start
}

export function totalSize(parts: readonly WrittenPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0)
}

/** Where each part begins when they lie one after the other. */
export function startsOf(parts: readonly WrittenPart[]): number[] {
  let end = 0
  return parts.map(({ size }) => {
    end += size
    return end - size
  })
}

/** Whether the parts fill their places, so that nothing lies between them. */
export function areAdjacent(parts: readonly WrittenPart[], partBytes: number): boolean {
  return parts.every(({ index, size }, i) => index === i && (size === partBytes || i === parts.length - 1))
}

/** Where the last place that has a part ends. */
export function endOf(parts: readonly WrittenPart[]): number {
  return parts.reduce((end, { size, ref }) => Math.max(end, Number(ref) + size), 0)
}

/** Fewer bytes in a chunk cost more than a copy of them. */
const MIN_CHUNK_BYTES = 128 * 1024

/** The largest chunk of which a part is a multiple; null when there is none of a useful length. */
export function chunkBytesOf(partBytes: number, maxChunkBytes: number): number | null {
  for (let count = Math.ceil(partBytes / maxChunkBytes); partBytes / count >= MIN_CHUNK_BYTES; count++) {
    if (partBytes % count === 0) return partBytes / count
  }
  return null
}
