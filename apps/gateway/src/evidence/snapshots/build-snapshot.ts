// Builds a snapshot from chunks: the digests of a statement, and the rows that list and prove the files.

import { hash } from 'node:crypto'
import { withPrefix } from '@svc/protocol/bytes'
import { type FileListDigests, hashFileList } from '@svc/protocol/file-list'
import { BLOCK_LEAVES, createBlockTree } from '@svc/protocol/merkle'
import { type ChunkListEntry, writeChunkList } from '../../db/chunk-list.ts'
import { leavesOf, rowsIn } from './chunk-content.ts'
import type { Chunk } from './cut-chunks.ts'
import type { ChunkRow, SnapshotRow } from './store.ts'

/** Digests include their prefix. */
export interface BuiltSnapshot extends FileListDigests {
  key: string
  fileCount: number
  totalBytes: bigint
  merkleRoot: string
  /** For the caller to insert with the statement. */
  row: SnapshotRow
}

export interface SnapshotBuilder {
  /** Adds the next chunks. */
  add(chunks: readonly Chunk[]): Promise<void>
  /** Stores the remaining chunks. Returns null if there are no files, and so no tree (MERK-08). */
  end(): Promise<BuiltSnapshot | null>
}

/** In characters. Small enough that other writers wait only milliseconds. */
const STORED_AT_ONCE = 1_000_000

export function createSnapshotBuilder(
  lockerId: string,
  storeChunks: (chunks: readonly ChunkRow[]) => Promise<void>,
): SnapshotBuilder {
  const digests = hashFileList(lockerId)
  const tree = createChunkTree()
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
      for (const chunk of chunks) {
        const { id, content, firstFilename, rowCount, stored } = chunk
        const rows = rowsIn(content)
        digests.add(rows)
        tree.add(chunk, rows)
        fileCount += rowCount
        totalBytes += chunk.totalBytes
        list.push({ id, firstFilename, rowCount })
        if (stored) continue
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

const HASH_LENGTH = 64

/**
 * A tree over chunks. A block of leaves whose rows are all at their old positions keeps its node, so no leaf is hashed.
 */
function createChunkTree() {
  const tree = createBlockTree()
  let rowCount = 0
  /**
   * The leaves of the current block while all of its rows are at their old positions; null once they are in the tree.
   */
  let kept: (() => string)[] | null = []

  function addKept(leaves: () => string): void {
    if (kept) kept.push(leaves)
    else tree.add(leaves())
  }

  function hashBlock(): void {
    for (const leaves of kept ?? []) tree.add(leaves())
    kept = null
  }

  return {
    add({ rowCount: count, leaves, stored }: Chunk, rows: string) {
      const toBlockEnd = BLOCK_LEAVES - (rowCount % BLOCK_LEAVES)
      rowCount += count
      if (leaves !== null) {
        hashBlock()
        tree.add(leaves)
        if (rowCount % BLOCK_LEAVES === 0) kept = []
      } else if (count < toBlockEnd) {
        addKept(() => leavesOf(rows))
      } else {
        const blockNode = stored?.blockNode ?? null
        if (blockNode === null) hashBlock()
        if (kept && blockNode !== null) tree.addBlock(blockNode)
        else tree.add(leavesOf(rows).slice(0, toBlockEnd * HASH_LENGTH))
        kept = count > toBlockEnd ? [() => leavesOf(rows).slice(toBlockEnd * HASH_LENGTH)] : []
      }
    },
    end() {
      hashBlock()
      return tree.end()
    },
  }
}
