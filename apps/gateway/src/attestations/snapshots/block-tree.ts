// A Merkle tree over leaves that come stretch by stretch: only one block of them is held at a time.

import { BLOCK_LEAVES, blockNode, merkleRoot } from '@svc/protocol/merkle'

const HEX = 64

export interface BlockTree {
  /** Leaves in hex, one after the other. */
  add(leaves: string): void
  /** The node of every block, and the bare root over them; throws where there is no leaf (MERK-08). */
  end(): { nodes: string[]; root: string }
}

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
