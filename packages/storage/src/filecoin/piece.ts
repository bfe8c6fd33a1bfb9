// What Filecoin calls an object: the commitment to its bytes and their number, in a content id (PieceCIDv2, FRC-0069).

import { getSize, hexToPieceCID, parse } from '@filoz/synapse-core/piece'

/** What a commitment can be made of at least; smaller objects have zeros added. */
const MIN_BYTES = 127
/** 1 GiB, less what the proof takes of it. */
export const MAX_BYTES = 1_065_353_216

export interface Piece {
  cid: string
  /** Of the object: without the zeros that were added. */
  size: number
}

export function cidOf(multihash: Uint8Array): string {
  return hexToPieceCID(`0x0155${Buffer.from(multihash).toString('hex')}`).toString()
}

/** The content id; with the size of an object that had zeros added, as `bafkzci…?size=5`. */
export function refOf({ cid, size }: Piece): string {
  return size < MIN_BYTES ? `${cid}?size=${size}` : cid
}

/** Null when it is no ref of ours. */
export function pieceOf(ref: string): Piece | null {
  const [, cid, size] = /^(bafkzci[a-z2-7]{20,100})(?:\?size=(\d{1,3}))?$/.exec(ref) ?? []
  if (!cid) return null
  try {
    const length = getSize(parse(cid))
    return { cid, size: size === undefined ? length : Number(size) }
  } catch {
    return null
  }
}

/** Of the piece, with the zeros that were added. */
export function lengthOf({ size }: { size: number }): number {
  return Math.max(size, MIN_BYTES)
}

export async function* withZeros(bytes: AsyncIterable<Buffer>, { size }: { size: number }): AsyncGenerator<Buffer> {
  yield* bytes
  if (size < MIN_BYTES) yield Buffer.alloc(MIN_BYTES - size)
}
