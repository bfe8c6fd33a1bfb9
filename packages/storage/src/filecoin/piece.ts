// Filecoin's id of an object: a content id with the commitment to its bytes and their number (PieceCIDv2, FRC-0069).

import { getSize, hexToPieceCID, parse } from '@filoz/synapse-core/piece'

/** The smallest input of a commitment; smaller objects get zeros appended. */
const MIN_BYTES = 127
/** 1 GiB, minus what the proof needs. */
export const MAX_BYTES = 1_065_353_216

export interface Piece {
  cid: string
  /** The size of the object, without appended zeros. */
  size: number
}

export function cidOf(multihash: Uint8Array): string {
  return hexToPieceCID(`0x0155${Buffer.from(multihash).toString('hex')}`).toString()
}

/** The content id; with the size when zeros were appended, as in `bafkzci…?size=5`. */
export function refOf({ cid, size }: Piece): string {
  return size < MIN_BYTES ? `${cid}?size=${size}` : cid
}

/** Null when it is not a ref of this driver. */
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

/** The length of the piece, with appended zeros. */
export function lengthOf({ size }: { size: number }): number {
  return Math.max(size, MIN_BYTES)
}

export async function* withZeros(bytes: AsyncIterable<Buffer>, { size }: { size: number }): AsyncGenerator<Buffer> {
  yield* bytes
  if (size < MIN_BYTES) yield Buffer.alloc(MIN_BYTES - size)
}
