// Slow reference trees, made by the definition.

import { EMPTY_FRONTIER, grow } from '../../src/transparency/frontier.ts'
import type { ReadTile } from '../../src/transparency/prove.ts'
import { type TilePosition, tilePath } from '../../src/transparency/tiles.ts'
import { EMPTY_ROOT, type Hash, leafHash, nodeHash } from '../../src/transparency/tree.ts'

export function entry(i: number): Uint8Array {
  return new TextEncoder().encode(`entry ${i}`)
}

/** The entries of the longest log so far. All logs here have the same entries. */
const leafHashes: Hash[] = []

function leafAt(i: number): Hash {
  leafHashes[i] ??= leafHash(entry(i))
  return leafHashes[i]
}

/** MTH of RFC 6962, 2.1. */
export function slowRoot(leaves: readonly Hash[]): Hash {
  if (leaves.length === 0) return EMPTY_ROOT
  if (leaves.length === 1) return leaves[0]!
  let middle = 1
  while (middle * 2 < leaves.length) middle *= 2
  return nodeHash(slowRoot(leaves.slice(0, middle)), slowRoot(leaves.slice(middle)))
}

/** A log in memory, grown in steps of the given sizes. */
export function memoryLog(steps: readonly number[]) {
  const tiles = new Map<string, Uint8Array>()
  const leaves: Hash[] = []
  let frontier = EMPTY_FRONTIER
  for (const count of steps) {
    const added = Array.from({ length: count }, (_, i) => leafAt(leaves.length + i))
    leaves.push(...added)
    const grown = grow(frontier, added)
    frontier = grown.frontier
    for (const tile of grown.tiles) tiles.set(tilePath(tile), tile.bytes)
  }
  const readTile: ReadTile = async (place: TilePosition) => {
    const tile = tiles.get(tilePath(place))
    if (!tile) throw new Error(`there is no ${tilePath(place)}`)
    return tile
  }
  return { frontier, leaves, tiles, readTile }
}
