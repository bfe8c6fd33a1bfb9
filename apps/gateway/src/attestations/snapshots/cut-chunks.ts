// From files to chunks, in one pass.

import { listRow } from '@svc/protocol/file-list'
import { leafHash } from '@svc/protocol/merkle'
import { chunkBorders, MAX_ROWS } from './chunk-borders.ts'
import type { ContentTypeRun, SnapshotFile } from './chunk-content.ts'

export interface Chunk {
  firstFilename: string
  rowCount: number
  totalBytes: bigint
  /** The Merkle leaves, one after the other. */
  leaves: string
  /** As `listRow` writes them, with commas between. */
  rows: string
  contentTypes: ContentTypeRun[]
}

export interface ChunkCutter {
  /** Files that follow on those before, in the order of their names; gives the chunks that they close. */
  cut(files: readonly SnapshotFile[]): Chunk[]
  /** The last one, unless it is empty. */
  end(): Chunk[]
}

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
    contentTypes: contentTypesOf(files),
  }
}

function contentTypesOf(files: readonly SnapshotFile[]): ContentTypeRun[] {
  const runs: ContentTypeRun[] = []
  for (const { content_type } of files) {
    const run = runs.at(-1)
    if (run?.[0] === content_type) run[1]++
    else runs.push([content_type, 1])
  }
  return runs
}
