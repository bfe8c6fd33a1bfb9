// The path from one leaf of a Merkle tree to its root, for the picture. This module needs no page: a worker finds the
// path, and the result can be posted.

import { isHex } from '@svc/protocol/bytes'
import {
  BLOCK_LEAVES,
  blockLevels,
  createBlockTree,
  type FileEntry,
  GROUP_LEAVES,
  merkleLevels,
  merkleRoot,
  type ProofStep,
  parentHash,
  proofInBlocks,
  treeDepth,
} from '@svc/protocol/merkle'

export interface PathStep {
  /** The node of the path. */
  node: string
  sibling: string
  /** The side of the sibling. */
  side: 'left' | 'right'
  /** Merkle rule 6: the last node of an odd level pairs with itself. */
  isRepeated: boolean
  /** The first and last file behind the sibling; null if it repeats the node. */
  behind: { first: number; last: number } | null
  parent: string
}

export interface MerklePath {
  /** The index of the leaf, from 0. */
  index: number
  leafCount: number
  leaf: string
  /** From the leaf up. */
  steps: PathStep[]
  /** The bare root that the steps lead to, computed here. */
  root: string
  /** The reason why this is not a path of that leaf in a tree of this size; null if it is. */
  problem: PathProblem | null
}

export type PathProblem =
  | 'no_such_leaf'
  /** The length differs from the height of the tree. */
  | 'wrong_length'
  | 'wrong_side'
  /** The last node of an odd level is paired with another node. */
  | 'not_repeated'
  /** A node is paired with itself, but it is not the last of an odd level. */
  | 'repeated'
  | 'malformed'

/** The data for the picture of a path; a worker can post it. */
export interface ShownProof {
  path: MerklePath
  /** The file, whose leaf was computed here; null if the bundle names no files. */
  file: FileEntry | null
  /** Whether the siblings were computed here from all files, or are given by a proof. */
  siblings: 'computed' | 'given'
  /** The bare root in the statement, which the path must lead to; null without a statement. */
  statementRoot: string | null
}

export interface PathFinder {
  readonly root: string
  /** Throws for a missing leaf. */
  find(index: number): MerklePath
}

/**
 * Finds paths in a tree whose leaves can be read. Without the nodes above its blocks, which a verified bundle provides,
 * all leaves are read and hashed once. After that, a path needs only the leaves of one block.
 * Throws when there is no leaf (MERK-08).
 */
export function createPathFinder(
  leafCount: number,
  leafAt: (index: number) => string,
  nodes: readonly string[] = nodesAbove(leafCount, leafAt),
): PathFinder {
  const levelsAbove = merkleLevels(nodes)

  return {
    root: merkleRoot(nodes),
    find(index) {
      if (!Number.isInteger(index) || index < 0 || index >= leafCount) throw new RangeError(`no leaf ${index}`)
      const start = index - (index % BLOCK_LEAVES)
      const length = Math.min(BLOCK_LEAVES, leafCount - start)
      const block = Array.from({ length }, (_, i) => leafAt(start + i))
      const inBlock = index - start
      const group = inBlock - (inBlock % GROUP_LEAVES)
      const proof = proofInBlocks(
        index,
        block.slice(group, group + GROUP_LEAVES),
        blockLevels(block, nodes.length),
        levelsAbove,
      )
      return pathOfProof({ leaf: block[inBlock] as string, index, leafCount, proof })
    },
  }
}

function nodesAbove(leafCount: number, leafAt: (index: number) => string): readonly string[] {
  const tree = createBlockTree()
  for (let i = 0; i < leafCount; i++) tree.add(leafAt(i))
  return tree.end().nodes
}

/** The path of an untrusted proof; every parent is computed here. */
export function pathOfProof(claimed: {
  leaf: string
  index: number
  leafCount: number
  proof: readonly ProofStep[]
}): MerklePath {
  const { leaf, index, leafCount, proof } = claimed
  const steps: PathStep[] = []
  let node = leaf
  for (const [height, { hash: sibling, position: side }] of proof.entries()) {
    const at = Math.floor(index / 2 ** height)
    const isRepeated = side === 'right' && at === lastOfLevel(leafCount, height) && sibling === node
    const parent = side === 'left' ? parentHash(sibling, node) : parentHash(node, sibling)
    const beside = side === 'left' ? at - 1 : at + 1
    const behind = isRepeated ? null : leavesBehind(beside, height, leafCount)
    steps.push({ node, sibling, side, isRepeated, behind, parent })
    node = parent
  }
  return { index, leafCount, leaf, steps, root: node, problem: problemOf(claimed, steps) }
}

function problemOf(
  { leaf, index, leafCount }: { leaf: string; index: number; leafCount: number },
  steps: readonly PathStep[],
): PathProblem | null {
  if (!Number.isSafeInteger(index) || index < 0 || index >= leafCount) return 'no_such_leaf'
  if (steps.length !== treeDepth(leafCount)) return 'wrong_length'
  if (!isHex(leaf, 32) || steps.some(({ sibling }) => !isHex(sibling, 32))) return 'malformed'
  for (const [height, { node, sibling, side, isRepeated }] of steps.entries()) {
    const at = Math.floor(index / 2 ** height)
    if (side !== (at % 2 === 1 ? 'left' : 'right')) return 'wrong_side'
    if (side === 'right' && at === lastOfLevel(leafCount, height) && !isRepeated) return 'not_repeated'
    if (sibling === node && !isRepeated) return 'repeated'
  }
  return null
}

function lastOfLevel(leafCount: number, height: number): number {
  return Math.ceil(leafCount / 2 ** height) - 1
}

function leavesBehind(node: number, height: number, leafCount: number): PathStep['behind'] {
  const first = node * 2 ** height
  const last = Math.min(leafCount, first + 2 ** height) - 1
  return first < 0 || first > last ? null : { first, last }
}

/** Whether the picture may show that the path leads to the statement. */
export function isLinkedToStatement({ path, statementRoot }: ShownProof): boolean {
  return path.problem === null && statementRoot !== null && path.root === statementRoot
}
