// Cuts a list of files into chunks, in one pass. Each row determines independently whether it closes its chunk, so that
// an insertion or deletion changes its own chunk, at most one neighbour, and no other.

import { hkdfSync } from 'node:crypto'
import { leafHash } from '@svc/protocol/merkle'
import { chunkId, entryOf, type FileRows, forEachRow, writeContent } from './chunk-content.ts'

export interface Chunk {
  id: string
  content: string
  firstFilename: string
  rowCount: number
  totalBytes: bigint
  /** The concatenated Merkle leaves; null for a stored chunk whose rows are at their old positions. */
  leaves: string | null
  /** Null for a newly cut chunk. */
  stored: StoredChunk | null
}

/** A chunk of the previous snapshot that is reused. */
export interface StoredChunk {
  /** The Merkle node of the block of leaves that ended in this chunk, if one did. */
  blockNode: string | null
}

export interface ChunkCutter {
  /** Adds the next files. Returns the chunks that they close. */
  cut(rows: FileRows): Chunk[]
  /** Whether the next file starts a chunk. */
  isAtBorder(): boolean
  /** Returns the last chunk, unless it is empty. */
  end(): Chunk[]
}

/** A chunk is always closed after this many rows. */
export const MAX_ROWS = 512

export function createChunkCutter(borderKey: string): ChunkCutter {
  const closesChunk = chunkBorders(borderKey)
  let open = emptyChunk()

  function close(): Chunk {
    const { firstFilename, rowCount, leaves, smallBytes } = open
    const content = writeContent(open)
    const totalBytes = open.totalBytes + BigInt(smallBytes)
    open = emptyChunk()
    return { id: chunkId(content), content, firstFilename, rowCount, totalBytes, leaves, stored: null }
  }

  return {
    cut({ text, contentTypes }) {
      const closed: Chunk[] = []
      let start = 0
      forEachRow(text, (row) => {
        const file = entryOf(row)
        const leaf = leafHash(file)
        if (open.rowCount === 0) open.firstFilename = file.filename
        open.rowCount++
        open.leaves += leaf
        open.contentTypes.push(contentTypes[row.index] as string)
        addBytes(open, file.size_bytes)
        if (!closesChunk(leaf) && open.rowCount < MAX_ROWS) return
        open.text += text.slice(start, row.end)
        start = row.end + 1
        closed.push(close())
      })
      if (start < text.length) open.text += `${text.slice(start)},`
      return closed
    },
    isAtBorder: () => open.rowCount === 0,
    end() {
      if (open.rowCount === 0) return []
      open.text = open.text.slice(0, -1)
      return [close()]
    },
  }
}

/** The rows since the last border. Until the border their text ends with a comma. */
function emptyChunk() {
  return {
    firstFilename: '',
    rowCount: 0,
    leaves: '',
    text: '',
    contentTypes: [] as string[],
    totalBytes: 0n,
    /** Bytes that are not in `totalBytes` yet: numbers take a tenth of the time of bigints. */
    smallBytes: 0,
  }
}

function addBytes(open: { totalBytes: bigint; smallBytes: number }, bytes: number): void {
  if (open.smallBytes + bytes > Number.MAX_SAFE_INTEGER) {
    open.totalBytes += BigInt(open.smallBytes)
    open.smallBytes = 0
  }
  open.smallBytes += bytes
}

/**
 * One leaf in 64 closes its chunk. A new file then rewrites about 130 rows, and the list of chunks is a hundredth of
 * the size of the rows.
 */
const CLOSING_BITS = 0b11_1111
/** How many characters of a leaf are used. Finding many files whose hashes agree in 64 bits is not feasible. */
const CHARACTERS = 16
const CHARACTER_CODES = 128

/**
 * Whether a leaf closes its chunk: tabulation hashing of the leaf, with a table derived from the key. For this purpose
 * it is as good as a second SHA-256, at a fiftieth of the cost. Without a secret key, an owner could name files so that
 * none closes a chunk. Chunks would then be cut by count alone, and every insertion at the front would change all of
 * them.
 */
export function chunkBorders(borderKey: string): (leaf: string) => boolean {
  const table = new Uint8Array(hkdfSync('sha256', borderKey, '', 'svc/chunk-borders', CHARACTERS * CHARACTER_CODES))
  return (leaf) => {
    let mixed = 0
    for (let i = 0; i < CHARACTERS; i++) mixed ^= table[i * CHARACTER_CODES + leaf.charCodeAt(i)] as number
    return (mixed & CLOSING_BITS) === 0
  }
}
