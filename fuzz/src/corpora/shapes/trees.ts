// Proofs of RFC 6962 trees, with the fields of transparency-dev. Hashes are base64 or hex.

import { fromBase64, toHex } from '@svc/protocol/bytes'
import type { Corpora } from '../cases.ts'
import { type Fields, hex } from './file.ts'

export function isTree(fields: Fields): boolean {
  const { leafIdx, treeSize, size1, size2, proof } = fields
  const isProof = proof === null || (Array.isArray(proof) && proof.every((hash) => typeof hash === 'string'))
  const isClaim = [leafIdx, treeSize].every(isNumber) || [size1, size2].every(isNumber)
  return isProof && isClaim
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

/** `fields` is a tree by `isTree`. */
export function addTree(name: string, fields: Fields, { trees, unread }: Corpora): void {
  const { leafIdx, treeSize, leafHash, root, size1, size2, root1, root2, proof, wantErr } = fields
  const hashes = [leafHash, root, root1, root2].map(hashOf)
  const path = ((proof as string[] | null) ?? []).map(hashOf)
  const [leaf, ofTree, first, second] = hashes
  const holds = typeof wantErr === 'boolean' ? !wantErr : null
  if (path.includes(null)) unread.push(`${name}: a proof whose hashes are neither base64 nor hex`)
  else if (isNumber(leafIdx) && leaf != null && ofTree != null)
    trees.push({
      name,
      claim: { index: leafIdx, size: treeSize as number, leaf, root: ofTree },
      proof: path as string[],
      holds,
    })
  else if (isNumber(size1) && first != null && second != null)
    trees.push({
      name,
      claim: { earlier: { size: size1, root: first }, later: { size: size2 as number, root: second } },
      proof: path as string[],
      // Nothing is proven about a log without entries: some call that a proof, and some an error.
      holds: size1 === 0 ? null : holds,
    })
  else unread.push(`${name}: a proof without its hashes`)
}

/** In hex; null for an invalid hash, and the empty hash when there is none. Sixty-four digits are hex. */
function hashOf(text: unknown): string | null {
  if (text === null || text === undefined) return text === null ? '' : null
  if (typeof text !== 'string') return null
  const bytes = (text.length === 64 ? hex(text) : null) ?? fromBase64(text)
  return bytes && toHex(bytes)
}
