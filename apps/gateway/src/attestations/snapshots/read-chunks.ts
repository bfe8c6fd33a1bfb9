import type { Db } from '../../db/schema.ts'
import { chunkId, readContent, type SnapshotFile } from './chunk-content.ts'
import { findChunks } from './store.ts'

/** The files of each chunk, in the order of the ids. What they prove is only as good as they are, so they are checked. */
export async function readChunks(db: Db, ids: readonly string[]): Promise<SnapshotFile[][]> {
  const rows = await findChunks(db, ids)
  const contents = new Map(rows.map(({ chunk_id, content }) => [chunk_id, content]))
  return ids.map((id) => {
    const content = contents.get(id)
    if (content === undefined || chunkId(content) !== id) throw new Error(`chunk ${id} is missing or damaged`)
    return readContent(content)
  })
}
