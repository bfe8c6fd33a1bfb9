// The Merkle tree of RFC 6962: its hashes, and the verification of proofs.

import { concat, equalBytes } from '../bytes.ts'
import { sha256Bytes } from '../sha256.ts'

/** 32 bytes. */
export type Hash = Uint8Array

export const HASH_BYTES = 32

const LEAF = Uint8Array.of(0)
/** The input of a node hash: the byte 1 and the two hashes below it. */
const node = new Uint8Array(1 + 2 * HASH_BYTES).fill(1, 0, 1)

export function leafHash(entry: Uint8Array): Hash {
  return sha256Bytes(concat(LEAF, entry))
}

export function nodeHash(left: Hash, right: Hash): Hash {
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES) throw new RangeError('a hash has 32 bytes')
  node.set(left, 1)
  node.set(right, 1 + HASH_BYTES)
  return sha256Bytes(node)
}

/** The root of a log without entries. */
export const EMPTY_ROOT: Hash = sha256Bytes(new Uint8Array())

/** The root of 2ⁿ hashes. */
export function foldComplete(hashes: readonly Hash[]): Hash {
  let row = hashes
  while (row.length > 1) {
    row = Array.from({ length: row.length / 2 }, (_, i) => nodeHash(row[2 * i]!, row[2 * i + 1]!))
  }
  return row[0]!
}

export interface InclusionClaim {
  index: number
  size: number
  leaf: Hash
  root: Hash
}

/** RFC 9162, 2.1.3.2. Sizes must be safe integers. Hashes of another length prove nothing. */
export function isIncluded({ index, size, leaf, root }: InclusionClaim, proof: readonly Hash[]): boolean {
  if (!isSize(index) || !isSize(size) || index >= size || ![leaf, ...proof].every(isHash)) return false
  let position = index
  let last = size - 1
  let hash = leaf
  for (const sibling of proof) {
    if (last === 0) return false
    if (isOdd(position) || position === last) {
      hash = nodeHash(sibling, hash)
      while (!isOdd(position) && position !== 0) [position, last] = [half(position), half(last)]
    } else {
      hash = nodeHash(hash, sibling)
    }
    ;[position, last] = [half(position), half(last)]
  }
  return last === 0 && equalBytes(hash, root)
}

export interface TreeHead {
  size: number
  root: Hash
}

/** RFC 9162, 2.1.4.2: whether the later tree begins with all entries of the earlier one. Empty proof from size 0. */
export function isConsistent(earlier: TreeHead, later: TreeHead, proof: readonly Hash[]): boolean {
  if (!isSize(earlier.size) || !isSize(later.size) || earlier.size > later.size) return false
  if (earlier.size === 0) return proof.length === 0 && equalBytes(earlier.root, EMPTY_ROOT)
  if (earlier.size === later.size) return proof.length === 0 && equalBytes(earlier.root, later.root)
  const path = isPowerOfTwo(earlier.size) ? [earlier.root, ...proof] : proof
  const roots = prefixRoots(earlier.size, later.size, path)
  return roots !== null && equalBytes(roots.earlier, earlier.root) && equalBytes(roots.later, later.root)
}

/**
 * The root of a tree, and the root of its first entries alone. This can show that a tree does not begin with another.
 * The path is a consistency proof whose first hash is never omitted. Sizes must be 0 < earlier < later. Null for a path
 * or hashes of the wrong length.
 */
export function prefixRoots(
  earlierSize: number,
  laterSize: number,
  path: readonly Hash[],
): { earlier: Hash; later: Hash } | null {
  const [first, ...rest] = path
  if (!first || !path.every(isHash)) return null
  let position = earlierSize - 1
  let last = laterSize - 1
  while (isOdd(position)) [position, last] = [half(position), half(last)]
  let before = first
  let after = first
  for (const hash of rest) {
    if (last === 0) return null
    if (isOdd(position) || position === last) {
      before = nodeHash(hash, before)
      after = nodeHash(hash, after)
      while (!isOdd(position) && position !== 0) [position, last] = [half(position), half(last)]
    } else {
      after = nodeHash(after, hash)
    }
    ;[position, last] = [half(position), half(last)]
  }
  return last === 0 ? { earlier: before, later: after } : null
}

// Bit operators would truncate numbers to 32 bits.

function isOdd(value: number): boolean {
  return value % 2 === 1
}

function half(value: number): number {
  return Math.floor(value / 2)
}

function isPowerOfTwo(value: number): boolean {
  return 2 ** floorLog2(value) === value
}

/** Exact, unlike `Math.log2`, which rounds up just below large powers of two. */
export function floorLog2(value: number): number {
  return value < 2 ** 32 ? 31 - Math.clz32(value) : 63 - Math.clz32(value / 2 ** 32)
}

function isHash(bytes: Uint8Array): boolean {
  return bytes.length === HASH_BYTES
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
