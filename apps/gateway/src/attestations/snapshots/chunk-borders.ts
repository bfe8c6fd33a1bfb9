// Where a list of files is cut. Each row decides by itself whether it closes its chunk, so that an insertion or deletion
// changes the chunk it happens in, at most one beside it, and no other.

import { hkdfSync } from 'node:crypto'

/** A chunk is closed after so many rows in any case. */
export const MAX_ROWS = 512

/**
 * One leaf of 64 closes its chunk: a new file writes some 130 rows anew, and the list of chunks stays a hundredth of
 * the rows.
 */
const CLOSING_BITS = 0b11_1111
/** So many characters of a leaf take part: nobody finds many files that agree in 64 bits of their hashes. */
const CHARACTERS = 16
const CHARACTER_CODES = 128

/**
 * Tabulation hashing of the leaf, with a table made of the key: as good as a second SHA-256 here, at a fiftieth of its
 * cost. Without a secret, an owner could name files so that none of them closes a chunk. Chunks would then be cut by
 * count alone, and every insertion at the front would change all of them.
 */
export function chunkBorders(borderKey: string): (leaf: string) => boolean {
  const table = new Uint8Array(hkdfSync('sha256', borderKey, '', 'svc/chunk-borders', CHARACTERS * CHARACTER_CODES))
  return (leaf) => {
    let mixed = 0
    for (let i = 0; i < CHARACTERS; i++) mixed ^= table[i * CHARACTER_CODES + leaf.charCodeAt(i)] as number
    return (mixed & CLOSING_BITS) === 0
  }
}
