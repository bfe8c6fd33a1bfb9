// Reads stored snapshots: all files of one, or the Merkle proof of a single file.

import { BLOCK_LEAVES, leafHash, type ProofStep, proofInBlocks, treeDepth } from '@svc/protocol/merkle'
import type { Db } from '../../db/schema.ts'
import { chunkId, readContent, type SnapshotFile } from './chunk-content.ts'
import { type ChunkList, openChunkList } from './chunk-list.ts'
import { findChunks, findSnapshot } from './store.ts'

/** About a thousand files. */
const CHUNKS_AT_ONCE = 16

/** All files in code-point order, some at a time: there may be a million. Yields nothing if there is no snapshot. */
export async function* snapshotFiles(db: Db, key: string): AsyncGenerator<SnapshotFile[]> {
  const snapshot = await findSnapshot(db, key)
  if (!snapshot) return
  const list = openChunkList(snapshot.chunk_list)
  for (let first = 0; first < list.length; first += CHUNKS_AT_ONCE) {
    const chunks = await readChunks(db, list, first, Math.min(first + CHUNKS_AT_ONCE, list.length))
    yield chunks.flat()
  }
}

export interface FileProof {
  leafIndex: number
  /** Without a prefix, like the hashes of the proof. */
  leafHash: string
  proof: ProofStep[]
  fileCount: number
  treeDepth: number
  file: SnapshotFile
}

/** Returns null if the snapshot has no such file. Reads the chunks of one block, however many files there are. */
export async function proveFile(db: Db, key: string, filename: string): Promise<FileProof | null> {
  const snapshot = await findSnapshot(db, key)
  if (!snapshot) return null
  const { file_count: fileCount } = snapshot
  const list = openChunkList(snapshot.chunk_list)
  const chunk = list.chunkOfName(filename)
  const [files = []] = await readChunks(db, list, chunk, chunk + 1)
  const place = files.findIndex((file) => file.filename === filename)
  if (place === -1) return null
  const leafIndex = list.firstRow(chunk) + place
  const leaves = (await filesOfBlock(db, list, Math.floor(leafIndex / BLOCK_LEAVES))).map(leafHash)
  return {
    leafIndex,
    leafHash: leaves[leafIndex % BLOCK_LEAVES] as string,
    proof: proofInBlocks(leafIndex, leaves, nodesOf(snapshot.block_nodes)),
    fileCount,
    treeDepth: treeDepth(fileCount),
    file: files[place] as SnapshotFile,
  }
}

async function filesOfBlock(db: Db, list: ChunkList, block: number): Promise<SnapshotFile[]> {
  const firstRow = block * BLOCK_LEAVES
  const endRow = Math.min(firstRow + BLOCK_LEAVES, list.rowCount)
  const first = list.chunkOfRow(firstRow)
  const chunks = await readChunks(db, list, first, list.chunkOfRow(endRow - 1) + 1)
  const before = list.firstRow(first)
  return chunks.flat().slice(firstRow - before, endRow - before)
}

/** The files of each chunk from `first` up to `end`. A proof is only as good as its chunks, so they are checked. */
async function readChunks(db: Db, list: ChunkList, first: number, end: number): Promise<SnapshotFile[][]> {
  const ids = Array.from({ length: end - first }, (_, i) => list.id(first + i))
  const rows = await findChunks(db, ids)
  const contents = new Map(rows.map(({ chunk_id, content }) => [chunk_id, content]))
  return ids.map((id) => {
    const content = contents.get(id)
    if (content === undefined || chunkId(content) !== id) throw new Error(`chunk ${id} is missing or damaged`)
    return readContent(content)
  })
}

function nodesOf(bytes: Uint8Array): string[] {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
  return Array.from({ length: bytes.length / 32 }, (_, i) => hex.slice(i * 64, i * 64 + 64))
}
