import { setImmediate } from 'node:timers/promises'
import { withPrefix } from '@svc/protocol/bytes'
import { type FileListDigests, hashFileList, listRow } from '@svc/protocol/file-list'
import { createBlockTree, leafHash } from '@svc/protocol/merkle'
import { type ChunkList, openChunkList } from '../../../db/chunk-list.ts'
import type { Db } from '../../../db/schema.ts'
import type { AttestationRecord } from '../../../evidence/record.ts'
import { readContent, type SnapshotFile } from '../../../evidence/snapshots/chunk-content.ts'
import { findChunks, findSnapshot } from '../../../evidence/snapshots/store.ts'

export interface SnapshotDigests extends FileListDigests {
  merkleRoot: string
  fileCount: number
}

const CHUNKS_AT_ONCE = 8

/** Computed from the stored list of files; null if the list is unreadable. Yields to other requests between chunks. */
export async function snapshotDigests(
  db: Db,
  { snapshotKey, lockerId }: AttestationRecord,
): Promise<SnapshotDigests | null> {
  const snapshot = await findSnapshot(db, snapshotKey)
  const list = snapshot && attempt(() => openChunkList(snapshot.chunk_list))
  if (!list || list.length === 0) return null
  const digests = hashFileList(lockerId)
  const tree = createBlockTree()
  let fileCount = 0
  for (let first = 0; first < list.length; first += CHUNKS_AT_ONCE) {
    const files = await readStored(db, list, first)
    if (!files) return null
    digests.add(files.map(listRow).join(','))
    tree.add(files.map(leafHash).join(''))
    fileCount += files.length
    await setImmediate()
  }
  return { ...digests.end(), merkleRoot: withPrefix(tree.end().root), fileCount }
}

async function readStored(db: Db, list: ChunkList, first: number): Promise<SnapshotFile[] | null> {
  const count = Math.min(CHUNKS_AT_ONCE, list.length - first)
  const ids = attempt(() => Array.from({ length: count }, (_, i) => list.id(first + i)))
  const rows = ids && (await findChunks(db, ids))
  const contents = new Map(rows?.map(({ chunk_id, content }) => [chunk_id, content]))
  const files = ids?.map((id) => attempt(() => readContent(contents.get(id) ?? '')))
  return files?.every((chunk) => chunk !== null) ? files.flat() : null
}

/** Damaged content is an expected outcome here, not an error. */
function attempt<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
