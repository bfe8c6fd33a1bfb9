import { BLOCK_LEAVES, leafHash, type ProofStep, proofInBlocks, treeDepth } from '@svc/protocol/merkle'
import type { Db } from '../../db/schema.ts'
import type { SnapshotFile } from './chunk-content.ts'
import { type ChunkList, openChunkList } from './chunk-list.ts'
import { readChunks } from './read-chunks.ts'
import { findSnapshot } from './store.ts'

export interface FileProof {
  leafIndex: number
  /** Bare, like those of the proof. */
  leafHash: string
  proof: ProofStep[]
  fileCount: number
  treeDepth: number
  file: SnapshotFile
}

/** Null when the snapshot has no such file. Reads the chunks of one block, however many files there are. */
export async function proveFile(db: Db, key: string, filename: string): Promise<FileProof | null> {
  const snapshot = await findSnapshot(db, key)
  if (!snapshot) return null
  const { file_count: fileCount } = snapshot
  const list = openChunkList(snapshot.chunk_list)
  const chunk = list.chunkOfName(filename)
  const [files = []] = await readChunks(db, [list.id(chunk)])
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
  const last = list.chunkOfRow(endRow - 1)
  const chunks = await readChunks(
    db,
    Array.from({ length: last - first + 1 }, (_, i) => list.id(first + i)),
  )
  const before = list.firstRow(first)
  return chunks.flat().slice(firstRow - before, endRow - before)
}

function nodesOf(bytes: Uint8Array): string[] {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
  return Array.from({ length: bytes.length / 32 }, (_, i) => hex.slice(i * 64, i * 64 + 64))
}
