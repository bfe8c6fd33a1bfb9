// Cuts a list of files into chunks, in one pass. Each row decides by itself whether it closes its chunk, so that an
// insertion or deletion changes the chunk it happens in, at most one beside it, and no other.

import { hkdfSync } from 'node:crypto'
import { listRow } from '@svc/protocol/file-list'
import { leafHash } from '@svc/protocol/merkle'
import { type ContentTypeRun, contentTypeRuns, type SnapshotFile } from './chunk-content.ts'

/** A chunk of the previous snapshot that is used again. */
export interface StoredChunk {
  id: string
  /** The Merkle node of the block of leaves that ended in this chunk, if one did. */
  blockNode: string | null
}

export interface Chunk {
  firstFilename: string
  rowCount: number
  totalBytes: bigint
  /** The Merkle leaves, one after the other; null for a stored chunk whose rows have the places that they had before. */
  leaves: string | null
  /** As `listRow` writes them, separated by commas. */
  rows: string
  contentTypes: ContentTypeRun[]
  /** Null for a chunk that was cut. */
  stored: StoredChunk | null
}

export interface ChunkCutter {
  /** Takes the next files, in the order of their names. Returns the chunks that they close. */
  cut(files: readonly SnapshotFile[]): Chunk[]
  /** Whether the next file begins a chunk. */
  isAtBorder(): boolean
  /** Returns the last chunk, unless it is empty. */
  end(): Chunk[]
}

/** A chunk is always closed after this many rows. */
export const MAX_ROWS = 512

export function createChunkCutter(borderKey: string): ChunkCutter {
  const closesChunk = chunkBorders(borderKey)
  let files: SnapshotFile[] = []
  let leaves: string[] = []

  function close(): Chunk {
    const chunk = makeChunk(files, leaves)
    files = []
    leaves = []
    return chunk
  }

  return {
    cut(more) {
      const closed: Chunk[] = []
      for (const file of more) {
        const leaf = leafHash(file)
        files.push(file)
        leaves.push(leaf)
        if (closesChunk(leaf) || files.length === MAX_ROWS) closed.push(close())
      }
      return closed
    },
    isAtBorder: () => files.length === 0,
    end: () => (files.length === 0 ? [] : [close()]),
  }
}

function makeChunk(files: readonly SnapshotFile[], leaves: readonly string[]): Chunk {
  return {
    firstFilename: (files[0] as SnapshotFile).filename,
    rowCount: files.length,
    totalBytes: files.reduce((sum, { size_bytes }) => sum + BigInt(size_bytes), 0n),
    leaves: leaves.join(''),
    rows: files.map(listRow).join(),
    contentTypes: contentTypeRuns(files.map(({ content_type }) => content_type)),
    stored: null,
  }
}

/**
 * One leaf in 64 closes its chunk. A new file then rewrites some 130 rows, and the list of chunks is a hundredth of the
 * size of the rows.
 */
const CLOSING_BITS = 0b11_1111
/** How many characters of a leaf count. It is not feasible to find many files whose hashes agree in 64 bits. */
const CHARACTERS = 16
const CHARACTER_CODES = 128

/**
 * Whether a leaf closes its chunk: tabulation hashing of the leaf, with a table derived from the key. Here it is as
 * good as a second SHA-256, at a fiftieth of the cost. Without a secret, an owner could name files so that none closes
 * a chunk. Chunks would then be cut by count alone, and every insertion at the front would change all of them.
 */
export function chunkBorders(borderKey: string): (leaf: string) => boolean {
  const table = new Uint8Array(hkdfSync('sha256', borderKey, '', 'svc/chunk-borders', CHARACTERS * CHARACTER_CODES))
  return (leaf) => {
    let mixed = 0
    for (let i = 0; i < CHARACTERS; i++) mixed ^= table[i * CHARACTER_CODES + leaf.charCodeAt(i)] as number
    return (mixed & CLOSING_BITS) === 0
  }
}
