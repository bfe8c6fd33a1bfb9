import type { Db } from '../../db/schema.ts'
import type { SnapshotFile } from './chunk-content.ts'
import { openChunkList } from './chunk-list.ts'
import { readChunks } from './read-chunks.ts'
import { findSnapshot } from './store.ts'

/** About a thousand files. */
const CHUNKS_AT_ONCE = 16

/** All files in code-point order, some at a time: there may be a million of them. Nothing where there is no snapshot. */
export async function* snapshotFiles(db: Db, key: string): AsyncGenerator<SnapshotFile[]> {
  const snapshot = await findSnapshot(db, key)
  if (!snapshot) return
  const list = openChunkList(snapshot.chunk_list)
  for (let first = 0; first < list.length; first += CHUNKS_AT_ONCE) {
    const count = Math.min(CHUNKS_AT_ONCE, list.length - first)
    const chunks = await readChunks(
      db,
      Array.from({ length: count }, (_, i) => list.id(first + i)),
    )
    yield chunks.flat()
  }
}
