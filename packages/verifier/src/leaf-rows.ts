// Reads the leaves of a redacted bundle from text in arbitrary pieces, and hashes them into their tree. Only the leaves
// of the last piece are in memory.

import { createBlockTree } from '@svc/protocol/merkle'
import { RefusedBundle } from './untrusted.ts'

/** A leaf as JSON, with the white space around it. */
const LEAF = /[ \t\n\r]*"([0-9a-f]{64})"[ \t\n\r]*/y
const SPACE = /^[ \t\n\r]*/
const SPACE_AFTER = /(?<=")[ \t\n\r]+$/

/** Counted and hashed by the verifier, regardless of the values in the bundle. */
export interface CountedLeaves {
  count: number
  /** Without the prefix `sha256:`. */
  merkleRoot: string
  blockNodes: readonly string[]
}

export interface LeafRows {
  /** The text from the closing bracket on. Null while the list continues. */
  write(piece: string): string | null
  /** The leaves that arrived since the last call. */
  release(): string[]
  /** Null if there was no leaf. */
  end(): CountedLeaves | null
}

export function createLeafRows(): LeafRows {
  const tree = createBlockTree()
  let text = ''
  let arrived: string[] = []
  let count = 0
  let last = ''

  function take(leaf: string): void {
    // Leaves are in the order of their names, so equal leaves are adjacent.
    if (leaf === last) throw new RefusedBundle('duplicate_filename', 'a leaf occurs twice')
    last = leaf
    arrived.push(leaf)
    tree.add(leaf)
    count++
  }

  return {
    write(piece) {
      text += piece
      let at = 0
      if (count === 0) {
        const start = SPACE.exec(text)?.[0].length ?? 0
        if (text[start] === ']') return text.slice(start)
      }
      for (;;) {
        LEAF.lastIndex = at
        const found = LEAF.exec(text)
        const next = text[LEAF.lastIndex]
        if (!found || next === undefined) break
        if (next !== ',' && next !== ']') throw badLeaf()
        take(found[1] as string)
        if (next === ']') return text.slice(LEAF.lastIndex)
        at = LEAF.lastIndex + 1
      }
      text = text.slice(at)
      if (!mayBecomeLeaf(text)) throw badLeaf()
      text = text.replace(SPACE, '').replace(SPACE_AFTER, '')
      return null
    },
    release() {
      const leaves = arrived
      arrived = []
      return leaves
    },
    end() {
      if (count === 0) return null
      const { root: merkleRoot, nodes: blockNodes } = tree.end()
      return { count, merkleRoot, blockNodes }
    },
  }
}

/** Whether the text can be the beginning of an incomplete leaf. */
function mayBecomeLeaf(text: string): boolean {
  return /^[ \t\n\r]*(?:"(?:[0-9a-f]{0,64}|[0-9a-f]{64}"[ \t\n\r]*))?$/.test(text)
}

function badLeaf(): RefusedBundle {
  return new RefusedBundle('bad_leaf_hash', 'leaf_hashes contains something other than 64 lowercase hex digits')
}
