import type { SnapshotChunkTable } from '../../db/schema.ts'
import { type BuiltSnapshot, createSnapshotBuilder } from '../snapshots/build-snapshot.ts'
import { createChunkCutter } from '../snapshots/cut-chunks.ts'
import type { ExportRecord } from './read-export.ts'

export interface RebuiltSnapshot extends BuiltSnapshot {
  /** To be stored before the snapshot, stretch by stretch. */
  chunks: (readonly SnapshotChunkTable[])[]
}

/** The snapshot of the files that a record lists. Its chunks are held back: the record may turn out to be wrong. */
export async function rebuildSnapshot(record: ExportRecord, borderKey: string): Promise<RebuiltSnapshot> {
  const chunks: RebuiltSnapshot['chunks'] = []
  const builder = createSnapshotBuilder(record.locker_id, async (stretch) => {
    if (stretch.length > 0) chunks.push(stretch)
  })
  const cutter = createChunkCutter(borderKey)
  await builder.add(cutter.cut(record.files))
  await builder.add(cutter.end())
  const built = await builder.end()
  if (!built) throw new Error('a record was read that has no files')
  return { ...built, chunks }
}

/** What the record says otherwise than its files do, or null (MERK-09, 10, 13). */
export function contradiction(record: ExportRecord, rebuilt: BuiltSnapshot): string | null {
  if (record.file_count !== rebuilt.fileCount) return `file_count: the files are ${rebuilt.fileCount}`
  if (BigInt(record.total_bytes) !== rebuilt.totalBytes)
    return `total_bytes: those of the files are ${rebuilt.totalBytes}`
  if (record.merkle_root !== rebuilt.merkleRoot) return `merkle_root: that of the files is ${rebuilt.merkleRoot}`
  if (record.result_hash !== rebuilt.resultHash) return `result_hash: that of the files is ${rebuilt.resultHash}`
  return null
}
