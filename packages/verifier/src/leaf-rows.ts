// Reads the leaves of a redacted bundle from text that is cut anywhere, and hashes them into their tree. Only those of
// the last piece are held.

import { createBlockTree } from '@svc/protocol/merkle'
import { RefusedBundle } from './untrusted.ts'

/** A leaf as JSON, and what may stand around it. */
const LEAF = /[ \t\n\r]*"([0-9a-f]{64})"[ \t\n\r]*/y
const SPACE = /^[ \t\n\r]*/
/** A leaf with its quotes is 66 characters long; the spaces around it may be as many as these. */
const MAX_CUT_LENGTH = 64 * 1024

/** Counted and hashed here, whatever the bundle says. */
export interface CountedLeaves {
  count: number
  /** Bare. */
  merkleRoot: string
  blockNodes: readonly string[]
}

export interface LeafRows {
  /** The text from the closing bracket on; null when the list is not over. */
  write(piece: string): string | null
  /** The leaves that arrived since the last call. */
  release(): string[]
  /** Null when there was no leaf. */
  end(): CountedLeaves | null
}

export function createLeafRows(): LeafRows {
  const tree = createBlockTree()
  let text = ''
  let arrived: string[] = []
  let count = 0
  let last = ''

  function take(leaf: string): void {
    // Leaves are in the order of their names, so equal ones are neighbours.
    if (leaf === last) throw new RefusedBundle('duplicate_filename', 'a leaf stands twice')
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

/** Whether this may be the beginning of a leaf that is cut short. */
function mayBecomeLeaf(text: string): boolean {
  return text.length <= MAX_CUT_LENGTH && /^[ \t\n\r]*(?:"(?:[0-9a-f]{0,64}|[0-9a-f]{64}"[ \t\n\r]*))?$/.test(text)
}

function badLeaf(): RefusedBundle {
  return new RefusedBundle('bad_leaf_hash', 'leaf_hashes holds something other than 64 lowercase hex digits')
}
