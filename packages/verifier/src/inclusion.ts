// The Merkle proofs of the files that a redacted bundle shows. Each is folded as its row is read, before the root and
// the number of files are known. Only the result that they have in common is stored.

import { isHex } from '@svc/protocol/bytes'
import { type FileEntry, foldProof, leafHash, type ProofStep, treeDepth } from '@svc/protocol/merkle'
import { isObject, type JsonObject, quoted } from './untrusted.ts'

/** A file and the index of its leaf, which is absent without a readable proof. */
export interface PlacedFile extends FileEntry {
  leafIndex?: number
  proof?: readonly ProofStep[]
}

export interface Inclusion {
  /** The root that all proofs lead to. Null if they differ. */
  root: string | null
  /** The length of all proofs. Null if they differ. */
  depth: number | null
  lastIndex: number
  /** Whether the leaves are in the order of the names, without duplicates. */
  isInOrder: boolean
}

export interface InclusionCheck {
  fold(file: FileEntry, row: JsonObject): PlacedFile
  /** Files in the order of their names. */
  add(files: readonly PlacedFile[]): void
  /** The name of the first file without a readable proof. */
  unreadable(): string | null
  end(): Inclusion
}

export function createInclusionCheck(): InclusionCheck {
  const roots = new Set<string>()
  const depths = new Set<number>()
  let unreadable: string | null = null
  let lastIndex = -1
  let isInOrder = true

  return {
    fold(file, row) {
      const proof = readProof(row)
      if (!proof) {
        unreadable ??= quoted(file.filename)
        return file
      }
      // Two roots are enough to know that they differ.
      if (roots.size < 2) roots.add(foldProof(leafHash(file), proof.steps))
      if (depths.size < 2) depths.add(proof.steps.length)
      return { ...file, leafIndex: proof.index, proof: proof.steps }
    },
    add(files) {
      for (const { leafIndex } of files) {
        if (leafIndex === undefined) continue
        if (leafIndex <= lastIndex) isInOrder = false
        lastIndex = Math.max(lastIndex, leafIndex)
      }
    },
    unreadable: () => unreadable,
    end: () => ({ root: onlyOne(roots), depth: onlyOne(depths), lastIndex, isInOrder }),
  }
}

function onlyOne<T>(values: ReadonlySet<T>): T | null {
  const [first] = values
  return values.size === 1 && first !== undefined ? first : null
}

/** The depth of a tree with 2^32 leaves, the maximum of a statement. */
const MAX_DEPTH = 32

/** The index of the leaf determines the side of each step, so a proof cannot be used for another leaf. */
function readProof({ leaf_index, proof }: JsonObject): { index: number; steps: ProofStep[] } | null {
  if (typeof leaf_index !== 'number' || !Number.isSafeInteger(leaf_index) || leaf_index < 0) return null
  if (!Array.isArray(proof) || proof.length > MAX_DEPTH || leaf_index >= 2 ** proof.length) return null
  const isPath = proof.every((step, level) => {
    if (!isObject(step) || Object.keys(step).length !== 2) return false
    const { hash, position } = step
    const isLeft = Math.floor(leaf_index / 2 ** level) % 2 === 1
    return typeof hash === 'string' && isHex(hash, 32) && position === (isLeft ? 'left' : 'right')
  })
  return isPath ? { index: leaf_index, steps: proof as unknown as ProofStep[] } : null // each step was checked
}

/** The problem of the proofs in a tree with this root and number of leaves, or null. */
export function inclusionProblem(found: Inclusion, merkleRoot: string, fileCount: number): string | null {
  if (found.root === null) return 'the proofs of the files lead to different roots'
  if (found.root !== merkleRoot) return 'the proofs of the files do not lead to the root of the statement'
  if (found.depth !== treeDepth(fileCount)) return `the proofs do not have the length for a tree of ${fileCount} files`
  if (found.lastIndex >= fileCount) return `a tree of ${fileCount} files has no leaf ${found.lastIndex}`
  return found.isInOrder ? null : 'the leaves are not in the order of the names'
}
