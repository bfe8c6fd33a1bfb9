// Reads stored snapshots: all files of one, or the files of some of its chunks.

import { type ChunkList, openChunkList } from '../../db/chunk-list.ts'
import type { Db } from '../../db/schema.ts'
import { chunkId, forEachStoredFile, readContent, type SnapshotFile, type StoredFile } from './chunk-content.ts'
import { findChunks, findSnapshot } from './store.ts'

/** About a thousand files. */
const CHUNKS_AT_ONCE = 16

/** All files in code-point order, in batches: there may be a million. Yields nothing if there is no snapshot. */
export async function* snapshotFiles(db: Db, key: string): AsyncGenerator<SnapshotFile[]> {
  for await (const contents of snapshotContents(db, key)) yield contents.flatMap(readContent)
}

export interface ShownFiles {
  count: number
  /** The text of each file, separated by commas. */
  text: string
}

/** The same files as `show` writes them, from the stored JSON. */
export async function* shownFiles(db: Db, key: string, show: (file: StoredFile) => string): AsyncGenerator<ShownFiles> {
  for await (const contents of snapshotContents(db, key)) {
    let count = 0
    // Appending to a text takes less time than collecting a list of its parts.
    let text = ''
    for (const content of contents) {
      forEachStoredFile(content, (file) => {
        text += (count++ === 0 ? '' : ',') + show(file)
      })
    }
    yield { count, text }
  }
}

async function* snapshotContents(db: Db, key: string): AsyncGenerator<string[]> {
  const snapshot = await findSnapshot(db, key)
  if (!snapshot) return
  const list = openChunkList(snapshot.chunk_list)
  for (let first = 0; first < list.length; first += CHUNKS_AT_ONCE) {
    yield await readChunks(db, list, first, Math.min(first + CHUNKS_AT_ONCE, list.length))
  }
}

/** The content of each chunk from `first` up to `end`, checked by its hash. */
export async function readChunks(db: Db, list: ChunkList, first: number, end: number): Promise<string[]> {
  const ids = Array.from({ length: end - first }, (_, i) => list.id(first + i))
  const rows = await findChunks(db, ids)
  const contents = new Map(rows.map(({ chunk_id, content }) => [chunk_id, content]))
  return ids.map((id) => {
    const content = contents.get(id) ?? ''
    requireIntact(id, content)
    return content
  })
}

export function requireIntact(id: string, content: string): void {
  if (chunkId(content) !== id) throw damagedChunk(id)
}

export function damagedChunk(id: string): Error {
  return new Error(`chunk ${id} is missing or damaged`)
}
