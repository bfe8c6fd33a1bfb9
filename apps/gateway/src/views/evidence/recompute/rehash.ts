// Reads the files of a statement again from the storage provider, bypassing all caches.

import { withPrefix } from '@svc/protocol/bytes'
import { createBlockTree, leafHash } from '@svc/protocol/merkle'
import type { Context } from '../../../context.ts'
import type { FileRow, Locker } from '../../../db/schema.ts'
import type { AttestationRecord } from '../../../evidence/record.ts'
import type { SnapshotFile } from '../../../evidence/snapshots/chunk-content.ts'
import { filesOf } from '../../../evidence/view.ts'
import type { HashObject, Reading } from '../../../files/confirm/hash-object.ts'
import { storageError } from '../../../files/errors.ts'
import { statObject } from '../../../files/objects.ts'
import { findFile, findFiles } from '../../../files/store.ts'

export interface Rehashed {
  merkleRoot: string | null
  fileCount: number
  totalBytes: bigint
  /** Files that differ from the statement, with the hash of their present bytes; null if the bytes are gone. */
  differing: Map<string, string | null>
}

export interface Rehashing {
  /** Reads the bytes, never a cached hash. */
  readObject: HashObject
  /** Called before each file is read. Throws if the total exceeds the limit. */
  spend(bytes: number): void
}

const CONCURRENT_READS = 8

export async function rehash(context: Context, locker: Locker, of: AttestationRecord, how: Rehashing) {
  const tree = createBlockTree()
  const found: Rehashed = { merkleRoot: null, fileCount: 0, totalBytes: 0n, differing: new Map() }
  for await (const files of filesOf(context.database.db, of)) {
    const readings = await readFiles(context, locker, files, how)
    for (const [i, { filename, size_bytes, content_hash }] of files.entries()) {
      const reading = readings[i]
      if (reading?.size !== size_bytes || reading.contentHash !== content_hash) {
        found.differing.set(filename, reading?.contentHash ?? null)
      }
      if (!reading) continue
      tree.add(leafHash({ filename, size_bytes: reading.size, content_hash: reading.contentHash }))
      found.fileCount++
      found.totalBytes += BigInt(reading.size)
    }
  }
  return found.fileCount === 0 ? found : { ...found, merkleRoot: withPrefix(tree.end().root) }
}

async function readFiles(context: Context, locker: Locker, files: readonly SnapshotFile[], how: Rehashing) {
  const names = files.map(({ filename }) => filename)
  const rows = await findFiles(context.database.db, locker.locker_id, names)
  const entries = new Map(rows.map((row) => [row.filename, row]))
  const readings: (Reading | null)[] = names.map(() => null)
  const indexes = indexesOf(names)
  const read = async () => {
    for (const index of indexes) {
      const entry = entries.get(names[index] as string)
      if (entry) readings[index] = await readEntry(context, locker, entry, how)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT_READS }, read))
  return readings
}

/** A generator that all readers share. A reader that throws closes it, which also stops the others. */
function* indexesOf(list: readonly unknown[]): Generator<number> {
  yield* list.keys()
}

/** Null if the bytes are gone. */
async function readEntry(context: Context, locker: Locker, entry: FileRow, how: Rehashing): Promise<Reading | null> {
  const { object_id: id, provider_ref: ref } = entry
  if (id === null) return null
  try {
    const size = entry.size_bytes ?? (await statObject(context, locker, { id, ref }))?.size
    how.spend(size ?? 0)
    const reading = await how.readObject(locker.provider, { id, ref })
    if (reading) return reading
  } catch (error) {
    throw storageError(error)
  }
  // The file was replaced after its entry was read, or its bytes are lost.
  const now = await findFile(context.database.db, locker.locker_id, entry.filename)
  return now && now.object_id !== id ? readEntry(context, locker, now, how) : null
}
