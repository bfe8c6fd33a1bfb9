// Trees and proofs block by block: the same small work, and the same memory, in a locker of a thousand files and of a
// million.

import {
  BLOCK_HEIGHT,
  BLOCK_LEAVES,
  blockNode,
  levelAbove,
  merkleLevels,
  merkleProof,
  merkleRoot,
  type ProofStep,
  sibling,
} from './merkle.ts'

/** From the leaves of one block and the stored nodes of all blocks. */
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

const HEX = 64

export interface BlockTree {
  /** Leaves in hex, one after the other. */
  add(leaves: string): void
  /** The node of every block, and the bare root over them; throws where there is no leaf (MERK-08). */
  end(): { nodes: string[]; root: string }
}

/** A tree over leaves that come stretch by stretch: only one block of them is held at a time. */
export function createBlockTree(): BlockTree {
  const nodes: string[] = []
  let block: string[] = []
  return {
    add(leaves) {
      for (let at = 0; at < leaves.length; at += HEX) {
        // A full block waits for the next leaf: a single one is folded otherwise.
        if (block.length === BLOCK_LEAVES) {
          nodes.push(blockNode(block))
          block = []
        }
        block.push(leaves.slice(at, at + HEX))
      }
    },
    end() {
      const all = nodes.length === 0 ? [merkleRoot(block)] : [...nodes, blockNode(block)]
      return { nodes: all, root: merkleRoot(all) }
    },
  }
}
