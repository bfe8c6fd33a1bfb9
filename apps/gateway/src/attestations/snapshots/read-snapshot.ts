// Reads stored snapshots: all files of one, or those of some of its chunks.

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

/** The files of each chunk from `first` up to `end`. A proof is only as good as its chunks, so they are checked. */
export async function readChunks(db: Db, list: ChunkList, first: number, end: number): Promise<SnapshotFile[][]> {
  const ids = Array.from({ length: end - first }, (_, i) => list.id(first + i))
  const rows = await findChunks(db, ids)
  const contents = new Map(rows.map(({ chunk_id, content }) => [chunk_id, content]))
  return ids.map((id) => {
    const content = contents.get(id)
    if (content === undefined || chunkId(content) !== id) throw new Error(`chunk ${id} is missing or damaged`)
    return readContent(content)
  })
}
