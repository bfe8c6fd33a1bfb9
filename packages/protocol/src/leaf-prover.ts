// Merkle proofs of some leaves of a tree whose leaves arrive one after the other. Only one node of each level is in
// memory, however many leaves there are.

import { type ProofStep, parentHash, treeDepth } from './merkle.ts'

export interface LeafProof {
  index: number
  proof: ProofStep[]
}

export interface LeafProver {
  add(leaf: string): void
  /** Adds a leaf and returns its proof, which is complete after `end`. */
  prove(leaf: string): LeafProof
  /** The root without its prefix. Throws if there is no leaf (MERK-08). */
  end(): string
}

/** A node, and the proofs whose paths contain it. */
interface Node {
  hash: string
  proofs: readonly ProofStep[][]
}

const NO_PROOFS: readonly ProofStep[][] = []

export function createLeafProver(): LeafProver {
  /** For each level, a left node that waits for its right sibling. */
  const waiting: (Node | undefined)[] = []
  let count = 0

  function insert(leaf: Node): number {
    let node = leaf
    let level = 0
    for (let left = waiting[0]; left; left = waiting[++level]) {
      waiting[level] = undefined
      node = parentOf(left, node)
    }
    waiting[level] = node
    return count++
  }

  return {
    add(leaf) {
      insert({ hash: leaf, proofs: NO_PROOFS })
    },
    prove(leaf) {
      const proof: ProofStep[] = []
      return { index: insert({ hash: leaf, proofs: [proof] }), proof }
    },
    end() {
      const depth = treeDepth(count)
      let last: Node | undefined
      for (let level = 0; level < depth; level++) {
        const left = waiting[level]
        const lone = left ?? last
        last = left && last ? parentOf(left, last) : lone && pairedWithItself(lone)
      }
      const root = last ?? waiting[depth]
      if (!root) throw new RangeError('cannot build a Merkle tree of an empty file list')
      return root.hash
    },
  }
}

function parentOf(left: Node, right: Node): Node {
  for (const proof of left.proofs) proof.push({ hash: right.hash, position: 'right' })
  for (const proof of right.proofs) proof.push({ hash: left.hash, position: 'left' })
  const proofs = left.proofs.length + right.proofs.length === 0 ? NO_PROOFS : [...left.proofs, ...right.proofs]
  return { hash: parentHash(left.hash, right.hash), proofs }
}

/** Rule 6, and MERK-20: a lone last node is its own right sibling. */
function pairedWithItself({ hash, proofs }: Node): Node {
  for (const proof of proofs) proof.push({ hash, position: 'right' })
  return { hash: parentHash(hash, hash), proofs }
}
