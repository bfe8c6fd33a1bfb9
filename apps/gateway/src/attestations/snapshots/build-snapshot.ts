// Builds a snapshot from chunks: the digests that a statement has, and the rows that list and prove the files.

import { hash } from 'node:crypto'
import { withPrefix } from '@svc/protocol/bytes'
import { type FileListDigests, hashFileList } from '@svc/protocol/file-list'
import { createBlockTree } from '@svc/protocol/merkle'
import { type ChunkListEntry, writeChunkList } from '../../db/chunk-list.ts'
import { chunkId, writeContent } from './chunk-content.ts'
import type { Chunk } from './cut-chunks.ts'
import type { ChunkRow, SnapshotRow } from './store.ts'

/** Digests have their prefix. */
export interface BuiltSnapshot extends FileListDigests {
  key: string
  fileCount: number
  totalBytes: bigint
  merkleRoot: string
  /** For the caller to insert with the statement. */
  row: SnapshotRow
}

export interface SnapshotBuilder {
  /** Takes the next chunks. */
  add(chunks: readonly Chunk[]): Promise<void>
  /** Stores the remaining chunks. Returns null if there are no files, and so no tree (MERK-08). */
  end(): Promise<BuiltSnapshot | null>
}

/** In characters. Small enough that other writers wait for milliseconds only. */
const STORED_AT_ONCE = 1_000_000

export function createSnapshotBuilder(
  lockerId: string,
  storeChunks: (chunks: readonly ChunkRow[]) => Promise<void>,
): SnapshotBuilder {
  const digests = hashFileList(lockerId)
  const tree = createBlockTree()
  const list: ChunkListEntry[] = []
  let fileCount = 0
  let totalBytes = 0n
  let unstored: ChunkRow[] = []
  let unstoredLength = 0

  async function store(): Promise<void> {
    const chunks = unstored
    unstored = []
    unstoredLength = 0
    await storeChunks(chunks)
  }

  return {
    async add(chunks) {
      for (const { firstFilename, rowCount, totalBytes: bytes, leaves, rows, contentTypes } of chunks) {
        digests.add(rows)
        tree.add(leaves)
        const content = writeContent(rows, contentTypes)
        const id = chunkId(content)
        list.push({ id, firstFilename, rowCount })
        fileCount += rowCount
        totalBytes += bytes
        unstored.push({ chunk_id: id, content })
        unstoredLength += content.length
        if (unstoredLength >= STORED_AT_ONCE) await store()
      }
    },
    async end() {
      if (fileCount === 0) return null
      await store()
      const { nodes, root } = tree.end()
      const { manifestDigest, resultHash } = digests.end()
      const key = hash('sha256', list.map(({ id }) => id).join(''))
      const merkleRoot = withPrefix(root)
      const row = {
        snapshot_key: key,
        file_count: fileCount,
        total_bytes: String(totalBytes),
        merkle_root: merkleRoot,
        manifest_digest: manifestDigest,
        chunk_list: writeChunkList(list),
        block_nodes: new Uint8Array(Buffer.from(nodes.join(''), 'hex')),
      }
      return { key, fileCount, totalBytes, merkleRoot, manifestDigest, resultHash, row }
    },
  }
}
