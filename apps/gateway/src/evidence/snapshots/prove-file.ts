// The Merkle proof of one file. Snapshots never change, so the common parts of many proofs are cached: the list of
// chunks, the levels above the blocks, and the upper levels of requested blocks.

import { type Lru, lru } from '@svc/concurrency/caches'
import { bare } from '@svc/protocol/bytes'
import {
  BLOCK_LEAVES,
  blockLevels,
  foldProof,
  GROUP_LEAVES,
  leafHash,
  merkleLevels,
  type ProofStep,
  proofInBlocks,
  treeDepth,
} from '@svc/protocol/merkle'
import { type ChunkList, openChunkList } from '../../db/chunk-list.ts'
import type { Db } from '../../db/schema.ts'
import { fileOf, indexInChunk, readStoredFiles, type SnapshotFile, type StoredFile } from './chunk-content.ts'
import { nodesOf } from './previous-snapshot.ts'
import { damagedChunk, readChunks, requireIntact } from './read-snapshot.ts'
import { findChunk, findSnapshot } from './store.ts'

interface FileProof {
  leafIndex: number
  /** Without a prefix, like the hashes of the proof. */
  leafHash: string
  proof: ProofStep[]
  fileCount: number
  treeDepth: number
  file: SnapshotFile
}

/** In bytes. The list of a million files takes about one megabyte. */
const MAX_CACHED_HEAD_BYTES = 16_000_000
/** Each takes about 20 kB; together they cover the blocks of a million files. */
const MAX_CACHED_BLOCKS = 1024

interface Head {
  fileCount: number
  /** Without a prefix. */
  root: string
  list: ChunkList
  levelsAbove: string[][]
  bytes: number
}

/** The common parts of many proofs. */
export interface ProofCache {
  heads: Lru<string, Head>
  blocks: Lru<string, string[][]>
}

export function openProofCache(): ProofCache {
  return { heads: lru(MAX_CACHED_HEAD_BYTES, ({ bytes }) => bytes), blocks: lru(MAX_CACHED_BLOCKS) }
}

type Parts = { database: { db: Db }; proofCache: ProofCache }

/**
 * Null if the snapshot has no such file. A proof reads one or two chunks; the first proof of a block reads all of the
 * block, regardless of the number of files.
 */
export async function proveFile(parts: Parts, key: string, filename: string): Promise<FileProof | null> {
  const { db } = parts.database
  const head = await headOf(parts, key)
  if (!head) return null
  const { fileCount, root, list, levelsAbove } = head
  const chunk = list.chunkOfName(filename)
  const id = list.id(chunk)
  const content = await findChunk(db, id)
  if (content === null) throw damagedChunk(id)
  const index = indexInChunk(content, filename)
  if (index === -1) {
    requireIntact(id, content)
    return null
  }
  const stored = readStoredFiles(content)
  const firstRow = list.firstRow(chunk)
  const leafIndex = firstRow + index
  const groupStart = leafIndex - (leafIndex % GROUP_LEAVES)
  const isWithinChunk =
    groupStart >= firstRow && Math.min(groupStart + GROUP_LEAVES, fileCount) <= firstRow + stored.length
  const group = isWithinChunk
    ? stored.slice(groupStart - firstRow, groupStart - firstRow + GROUP_LEAVES)
    : await readRows(db, list, groupStart, GROUP_LEAVES)
  const files = group.map(fileOf)
  const leaves = files.map(leafHash)
  const leaf = leaves[leafIndex - groupStart] as string
  const inBlock = await levelsOfBlock(parts, key, head, Math.floor(leafIndex / BLOCK_LEAVES))
  const proof = proofInBlocks(leafIndex, leaves, inBlock, levelsAbove)
  // This shows that the chunk is intact, in less time than hashing the chunk.
  if (foldProof(leaf, proof) !== root) throw damagedChunk(id)
  return {
    leafIndex,
    leafHash: leaf,
    proof,
    fileCount,
    treeDepth: treeDepth(fileCount),
    file: files[leafIndex - groupStart] as SnapshotFile,
  }
}

async function headOf({ database: { db }, proofCache: { heads } }: Parts, key: string): Promise<Head | null> {
  const cached = heads.get(key)
  if (cached) return cached
  const snapshot = await findSnapshot(db, key)
  if (!snapshot) return null
  const { file_count: fileCount, merkle_root, chunk_list, block_nodes } = snapshot
  const levelsAbove = merkleLevels(nodesOf(block_nodes))
  const head = {
    fileCount,
    root: bare(merkle_root),
    list: openChunkList(chunk_list),
    levelsAbove,
    bytes: chunk_list.length + 8 * block_nodes.length,
  }
  heads.set(key, head)
  return head
}

async function levelsOfBlock(
  { database: { db }, proofCache: { blocks } }: Parts,
  key: string,
  { list, levelsAbove }: Head,
  block: number,
): Promise<string[][]> {
  const name = `${key}/${block}`
  const cached = blocks.get(name)
  if (cached) return cached
  const rows = await readRows(db, list, block * BLOCK_LEAVES, BLOCK_LEAVES)
  const levels = blockLevels(rows.map(fileOf).map(leafHash), levelsAbove[0]!.length)
  blocks.set(name, levels)
  return levels
}

async function readRows(db: Db, list: ChunkList, firstRow: number, count: number): Promise<StoredFile[]> {
  const endRow = Math.min(firstRow + count, list.rowCount)
  const first = list.chunkOfRow(firstRow)
  const contents = await readChunks(db, list, first, list.chunkOfRow(endRow - 1) + 1)
  const before = list.firstRow(first)
  return contents.flatMap(readStoredFiles).slice(firstRow - before, endRow - before)
}
