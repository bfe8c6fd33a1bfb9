// Proofs from one block's leaves and the stored nodes of all blocks: the same small work in a locker of a thousand files
// and of a million.

import { BLOCK_HEIGHT, BLOCK_LEAVES, levelAbove, merkleLevels, merkleProof, type ProofStep, sibling } from './merkle.ts'

export function proofInBlocks(index: number, leavesOfBlock: readonly string[], nodes: readonly string[]): ProofStep[] {
  const inBlock = index % BLOCK_LEAVES
  if (nodes.length === 1) return merkleProof(merkleLevels(leavesOfBlock), inBlock)
  const within = blockLevels(leavesOfBlock).map((level, height) => sibling(level, inBlock >>> height))
  return [...within, ...merkleProof(merkleLevels(nodes), Math.floor(index / BLOCK_LEAVES))]
}

/** Levels of one block among several, below its node. */
function blockLevels(leaves: readonly string[]): string[][] {
  const levels = [[...leaves]]
  for (let height = 1; height < BLOCK_HEIGHT; height++) levels.push(levelAbove(levels[height - 1] as string[]))
  return levels
}
