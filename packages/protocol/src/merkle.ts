// svc-merkle-v1: a binary tree over hex text. Rules are numbered as in the interface.

import { sha256Hex } from '#crypto'
import { bare } from './bytes.ts'

export interface FileEntry {
  filename: string
  size_bytes: number
  content_hash: string
}

export interface ProofStep {
  hash: string
  position: 'left' | 'right'
}

/** Rule 3: the leaf of a file. Its content hash is used without its prefix (rule 2). */
export function leafHash(file: FileEntry): string {
  return sha256Hex(`${file.filename}:${file.size_bytes}:${bare(file.content_hash)}`)
}

/** Rule 5: parents hash the hex text of their children. */
export function parentHash(left: string, right: string): string {
  return sha256Hex(left + right)
}

/** The size of a block is a power of two: see `blockNodes`. */
export const BLOCK_HEIGHT = 10
export const BLOCK_LEAVES = 1 << BLOCK_HEIGHT

/** The root of sorted leaves without its prefix, computed block by block to keep the working set in the CPU cache. */
export function merkleRoot(leaves: readonly string[]): string {
  if (leaves.length === 0) throw new RangeError('cannot build a Merkle tree of an empty file list')
  const nodes = blockNodes(leaves)
  return nodes.length === 1 ? (nodes[0] as string) : merkleRoot(nodes)
}

/**
 * The nodes BLOCK_HEIGHT levels above the leaves, one for each block. For a single block, its root. Block sizes are a
 * power of two, so a lone last node of the last block is also the lone last node of its level, and pairs with itself up
 * to the block's height.
 */
export function blockNodes(leaves: readonly string[]): string[] {
  if (leaves.length <= BLOCK_LEAVES) return [fold(leaves.slice(), treeDepth(leaves.length))]
  const nodes: string[] = []
  for (let start = 0; start < leaves.length; start += BLOCK_LEAVES) {
    nodes.push(blockNode(leaves.slice(start, start + BLOCK_LEAVES)))
  }
  return nodes
}

/** The node of one block among several. */
export function blockNode(leaves: readonly string[]): string {
  return fold(leaves.slice(), BLOCK_HEIGHT)
}

/** The node this many levels above. Each level overwrites the front of the level below. */
function fold(nodes: string[], levels: number): string {
  let count = nodes.length
  for (let level = 0; level < levels; level++) {
    for (let i = 0; i < count; i += 2) {
      const left = nodes[i] as string
      nodes[i >> 1] = parentHash(left, i + 1 < count ? (nodes[i + 1] as string) : left)
    }
    count = (count + 1) >> 1
  }
  return nodes[0] as string
}

/** Every level of the tree, leaves first, root last. */
export function merkleLevels(leaves: readonly string[]): string[][] {
  if (leaves.length === 0) throw new RangeError('cannot build a Merkle tree of an empty file list')
  const levels = [[...leaves]]
  for (let level = levels[0] as string[]; level.length > 1; ) {
    level = levelAbove(level)
    levels.push(level)
  }
  return levels
}

/** Rule 6: pair left to right; the last node of an odd level pairs with itself. */
export function levelAbove(level: readonly string[]): string[] {
  const parents = new Array<string>(Math.ceil(level.length / 2))
  for (let i = 0; i < parents.length; i++) {
    const left = level[2 * i] as string
    parents[i] = parentHash(left, level[2 * i + 1] ?? left)
  }
  return parents
}

/** The siblings on the path from leaf `index` to the root. */
export function merkleProof(levels: readonly (readonly string[])[], index: number): ProofStep[] {
  if (!Number.isInteger(index) || index < 0 || index >= (levels[0]?.length ?? 0)) {
    throw new RangeError(`no leaf ${index}`)
  }
  return levels.slice(0, -1).map((level, height) => sibling(level, index >>> height))
}

/** The step beside node `index` of a level; a lone last node is its own right sibling (MERK-20). */
export function sibling(level: readonly string[], index: number): ProofStep {
  const isRight = index % 2 === 1
  const hash = isRight ? level[index - 1] : (level[index + 1] ?? level[index])
  return { hash: hash as string, position: isRight ? 'left' : 'right' }
}

/** The root that a proof leads to, without its prefix. The caller compares it with the attested root. */
export function foldProof(leaf: string, proof: readonly ProofStep[]): string {
  return proof.reduce(
    (node, step) => (step.position === 'left' ? parentHash(step.hash, node) : parentHash(node, step.hash)),
    leaf,
  )
}

/** The depth of a tree, which is the length of each of its proofs. */
export function treeDepth(leafCount: number): number {
  return leafCount <= 1 ? 0 : 32 - Math.clz32(leafCount - 1)
}

/** Blocks consist of groups: a proof needs the leaves of one group, and nodes above it that can be stored. */
const GROUP_HEIGHT = 3
export const GROUP_LEAVES = 1 << GROUP_HEIGHT

/**
 * The levels of a block between its groups and its node. They take a quarter of the block, and its proofs need nothing
 * else besides the leaves of one group.
 */
export function blockLevels(leaves: readonly string[], blockCount: number): string[][] {
  const height = blockCount === 1 ? treeDepth(leaves.length) : BLOCK_HEIGHT
  const levels: string[][] = []
  let level = [...leaves]
  for (let at = 0; at < height; at++) {
    if (at >= GROUP_HEIGHT) levels.push(level)
    level = levelAbove(level)
  }
  return levels
}

/**
 * A proof from the leaves of one group, the levels of its block and the levels above all blocks (`merkleLevels` of
 * their nodes). It takes as much work for a million files as for a thousand.
 */
export function proofInBlocks(
  index: number,
  leavesOfGroup: readonly string[],
  levelsOfBlock: readonly (readonly string[])[],
  levelsAbove: readonly (readonly string[])[],
): ProofStep[] {
  const inBlock = index % BLOCK_LEAVES
  const isOnlyGroup = levelsAbove.length === 1 && levelsOfBlock.length === 0
  const proof: ProofStep[] = []
  let level = leavesOfGroup
  for (let height = 0; height < (isOnlyGroup ? treeDepth(leavesOfGroup.length) : GROUP_HEIGHT); height++) {
    proof.push(sibling(level, (index % GROUP_LEAVES) >>> height))
    level = levelAbove(level)
  }
  for (const [i, above] of levelsOfBlock.entries()) proof.push(sibling(above, inBlock >>> (GROUP_HEIGHT + i)))
  return [...proof, ...merkleProof(levelsAbove, Math.floor(index / BLOCK_LEAVES))]
}

const HASH_LENGTH = 64

export interface BlockTree {
  /** Leaves in hex, concatenated. */
  add(leaves: string): void
  /** Adds a full block by its node. Throws if the current block is incomplete. */
  addBlock(node: string): void
  /** The node of every block, and the root without its prefix. Throws if there is no leaf (MERK-08). */
  end(): { nodes: string[]; root: string }
}

/** A tree over leaves that arrive in chunks. Only one block of them is in memory at a time. */
export function createBlockTree(): BlockTree {
  const nodes: string[] = []
  let block: string[] = []
  return {
    add(leaves) {
      for (let at = 0; at < leaves.length; at += HASH_LENGTH) {
        block.push(leaves.slice(at, at + HASH_LENGTH))
        if (block.length < BLOCK_LEAVES) continue
        nodes.push(blockNode(block))
        block = []
      }
    },
    addBlock(node) {
      if (block.length > 0) throw new RangeError('the current block is incomplete')
      nodes.push(node)
    },
    end() {
      // A single block that is not full has a lower node, which is the root.
      if (block.length > 0) nodes.push(nodes.length === 0 ? merkleRoot(block) : blockNode(block))
      return { nodes, root: merkleRoot(nodes) }
    },
  }
}
