// The same tree in aligned blocks of 1,024 leaves, so that one proof needs one block's leaves and the stored nodes of
// the others: the same small work in a locker of a thousand files and of a million.

import { levelAbove, merkleLevels, merkleProof, merkleRoot, type ProofStep, sibling } from './merkle.ts'

export const BLOCK_HEIGHT = 10
export const BLOCK_LEAVES = 1 << BLOCK_HEIGHT

/** The nodes that stand BLOCK_HEIGHT levels above the leaves, one for each block; of a single block, its root. */
export function blockNodes(leaves: readonly string[]): string[] {
  if (leaves.length <= BLOCK_LEAVES) return [merkleRoot(leaves)]
  const nodes: string[] = []
  for (let start = 0; start < leaves.length; start += BLOCK_LEAVES) {
    nodes.push(blockLevels(leaves.slice(start, start + BLOCK_LEAVES)).at(-1)?.[0] as string)
  }
  return nodes
}

/** The bare root above the nodes of all blocks. */
export function rootOfBlocks(nodes: readonly string[]): string {
  return merkleRoot(nodes)
}

/** The proof of one leaf from the leaves of its own block and the nodes of all blocks. */
export function proofInBlocks(index: number, leavesOfBlock: readonly string[], nodes: readonly string[]): ProofStep[] {
  const inBlock = index % BLOCK_LEAVES
  if (nodes.length === 1) return merkleProof(merkleLevels(leavesOfBlock), inBlock)
  const within = blockLevels(leavesOfBlock)
    .slice(0, -1)
    .map((level, height) => sibling(level, inBlock >>> height))
  return [...within, ...merkleProof(merkleLevels(nodes), Math.floor(index / BLOCK_LEAVES))]
}

/**
 * Levels of one block among several. Blocks are a power of two, so a lone node of the last block is also the lone last
 * node of its whole level: it keeps pairing with itself up to the block's height.
 */
function blockLevels(leaves: readonly string[]): string[][] {
  const levels = [[...leaves]]
  for (let height = 0; height < BLOCK_HEIGHT; height++) levels.push(levelAbove(levels[height] as string[]))
  return levels
}
