// A growing tree. Its right frontier, the hashes of its partial tiles, is enough to add entries.

import { concat } from '../bytes.ts'
import { hashesOf, TILE_WIDTH, type TilePosition, tileWidth } from './tiles.ts'
import { EMPTY_ROOT, foldComplete, type Hash, nodeHash } from './tree.ts'

export interface Frontier {
  readonly size: number
  /** The hashes of the partial tile of each level, fewer than 256. */
  readonly levels: readonly (readonly Hash[])[]
}

export const EMPTY_FRONTIER: Frontier = { size: 0, levels: [] }

export interface Tile extends TilePosition {
  level: number
  bytes: Uint8Array
}

/** Adds leaf hashes. Returns every changed tile: full ones, and the last partial one of each level. */
export function grow(frontier: Frontier, leaves: readonly Hash[]): { frontier: Frontier; tiles: Tile[] } {
  const tiles: Tile[] = []
  const levels: Hash[][] = []
  const size = frontier.size + leaves.length
  let added: readonly Hash[] = leaves
  for (let level = 0; level < frontier.levels.length || added.length > 0; level++) {
    const row = [...(frontier.levels[level] ?? []), ...added]
    const isChanged = added.length > 0
    const full = Math.floor(row.length / TILE_WIDTH)
    // All hashes of a level that are not in the row are in earlier full tiles.
    const first = Math.floor(size / TILE_WIDTH ** (level + 1)) - full
    const roots: Hash[] = []
    for (let i = 0; i < full; i++) {
      const hashes = row.slice(i * TILE_WIDTH, (i + 1) * TILE_WIDTH)
      tiles.push({ level, index: first + i, width: TILE_WIDTH, bytes: concat(...hashes) })
      roots.push(foldComplete(hashes))
    }
    const rest = row.slice(full * TILE_WIDTH)
    if (rest.length > 0 && isChanged)
      tiles.push({ level, index: first + full, width: rest.length, bytes: concat(...rest) })
    levels.push(rest)
    added = roots
  }
  return { frontier: { size, levels }, tiles }
}

export function rootOf({ levels }: Frontier): Hash {
  let root: Hash | null = null
  for (const hashes of levels) {
    // The complete subtrees of a level from right to left, smallest first: the bits of their number.
    let end = hashes.length
    for (let count = 1; end > 0; count *= 2) {
      if (end % (count * 2) === 0) continue
      const subtree = foldComplete(hashes.slice(end - count, end))
      root = root ? nodeHash(subtree, root) : subtree
      end -= count
    }
  }
  return root ?? EMPTY_ROOT
}

/** The frontier of a tree whose tiles are stored. */
export async function readFrontier(
  size: number,
  readTile: (place: TilePosition) => Promise<Uint8Array>,
): Promise<Frontier> {
  const levels: Promise<Hash[]>[] = []
  for (let level = 0; TILE_WIDTH ** level <= size; level++) {
    const index = Math.floor(size / TILE_WIDTH ** (level + 1))
    const width = tileWidth(size, level, index)
    levels.push(width === 0 ? Promise.resolve([]) : readTile({ level, index, width }).then(hashesOf))
  }
  return { size, levels: await Promise.all(levels) }
}
