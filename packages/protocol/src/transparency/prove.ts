// Makes proofs from tiles, for the log and its readers.

import { equalBytes } from '../bytes.ts'
import { subtreeHash, type TilePosition, tileOfSubtree } from './tiles.ts'
import { EMPTY_ROOT, floorLog2, type Hash, nodeHash, prefixRoots, type TreeHead } from './tree.ts'

/** Returns the bytes of a tile. */
export type ReadTile = (tile: TilePosition) => Promise<Uint8Array>

/** Siblings from the entry upwards (RFC 6962, 2.1.1). */
export async function proveInclusion(index: number, size: number, readTile: ReadTile): Promise<Hash[]> {
  if (index >= size) throw new RangeError('the log has no such entry')
  const ranges: Range[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + largestPowerBelow(end - start)
    ranges.push(index < middle ? [middle, end] : [start, middle])
    ;[start, end] = index < middle ? [start, middle] : [middle, end]
  }
  return hashRanges(ranges.reverse(), size, readTile)
}

/** The proof from an earlier size to a later one (RFC 6962, 2.1.2). Empty from size 0, and for equal sizes. */
export async function proveConsistency(earlier: number, later: number, readTile: ReadTile): Promise<Hash[]> {
  if (earlier > later) throw new RangeError('the earlier size exceeds the later one')
  if (earlier === 0 || earlier === later) return []
  const [first, ...rest] = prefixRanges(earlier, later)
  // The caller knows the root of the earlier tree.
  return hashRanges(first![0] === 0 ? rest : [first!, ...rest], later, readTile)
}

/** The path for `prefixRoots`, which computes the root of the first entries without knowing any root in advance. */
export async function provePrefix(earlier: number, later: number, readTile: ReadTile): Promise<Hash[]> {
  if (earlier <= 0 || earlier >= later) throw new RangeError('a prefix must be shorter than its log, and not empty')
  return hashRanges(prefixRanges(earlier, later), later, readTile)
}

/**
 * The root of the first entries of a tree, and the path that proves it. Null if the tiles do not lead to the root of
 * the tree.
 */
export async function readPrefix(
  head: TreeHead,
  size: number,
  readTile: ReadTile,
): Promise<{ root: Hash; path: Hash[] } | null> {
  if (size === 0) return { root: EMPTY_ROOT, path: [] }
  if (size === head.size) return { root: head.root, path: [] }
  const path = await provePrefix(size, head.size, readTile)
  const roots = prefixRoots(size, head.size, path)
  return roots && equalBytes(roots.later, head.root) ? { root: roots.earlier, path } : null
}

/** The ranges of a proof, from the smallest complete subtree at the end of the earlier tree upwards. */
function prefixRanges(earlier: number, later: number): Range[] {
  const ranges: Range[] = []
  let [start, end] = [0, later]
  while (end !== earlier) {
    const middle = start + largestPowerBelow(end - start)
    ranges.push(earlier <= middle ? [middle, end] : [start, middle])
    ;[start, end] = earlier <= middle ? [start, middle] : [middle, end]
  }
  return [...ranges, [start, end] satisfies Range].reverse()
}

/** Computes the root of a tree from its tiles. */
export async function rootFromTiles(size: number, readTile: ReadTile): Promise<Hash> {
  const [root] = await hashRanges([[0, size]], size, readTile)
  return root!
}

/** A range of entries; `end` is exclusive. */
type Range = [start: number, end: number]

async function hashRanges(ranges: readonly Range[], size: number, readTile: ReadTile): Promise<Hash[]> {
  const subtrees = ranges.map((range) =>
    completeSubtrees(range).map(([level, index]) => ({ level, index, tile: tileOfSubtree(size, level, index) })),
  )
  const tiles = new Map<number, Promise<Uint8Array>>()
  for (const { tile } of subtrees.flat())
    if (!tiles.has(numberOfTile(tile))) tiles.set(numberOfTile(tile), readTile(tile))
  const read = new Map(await Promise.all([...tiles].map(async ([number, tile]) => [number, await tile] as const)))
  const hash = ({ level, index, tile }: (typeof subtrees)[number][number]) =>
    subtreeHash(read.get(numberOfTile(tile))!, level, index)
  return subtrees.map((row) => row.map(hash).reduceRight((right, left) => nodeHash(left, right)))
}

/** A unique number for each tile. Trees of 2⁵³ entries have seven levels of tiles. */
function numberOfTile({ level, index }: { level: number; index: number }): number {
  return index * 8 + level
}

/** The complete subtrees of a range from left to right. Its start is a multiple of the largest one. */
function completeSubtrees([start, end]: Range): [level: number, index: number][] {
  const subtrees: [number, number][] = []
  for (let at = start; at < end; ) {
    const level = floorLog2(end - at)
    subtrees.push([level, at / 2 ** level])
    at += 2 ** level
  }
  return subtrees
}

function largestPowerBelow(count: number): number {
  return 2 ** floorLog2(count - 1)
}
