// A snapshot is the list of a locker's confirmed files at one version of its manifest. It is stored permanently, with
// everything that is needed to list the files and to prove each of them.

import type { Commit } from '@svc/database/commit'
import type { Db, Schema } from '../../db/schema.ts'
import { createSnapshotBuilder } from './build-snapshot.ts'
import { type FindAbsent, makeSnapshot, objectsOf, type Snapshot, type SnapshotProgress } from './make-snapshot.ts'
import { readLockerFiles } from './read-files.ts'
import { countListedFiles, storeChunks } from './store.ts'
import { takeSnapshotInThread } from './threads.ts'

export interface SnapshotRequest extends SnapshotProgress {
  db: Db
  commit: Commit<Schema>
  databaseUrl: string
  lockerId: string
  findAbsent: FindAbsent
}

/** A smaller snapshot takes less time than starting threads. */
const MAX_FILES_WITHOUT_THREADS = 5000

/**
 * Stores the chunks. The caller inserts the row that makes them a snapshot, in the transaction that writes the
 * statement. Returns null if there is no file to attest.
 */
export async function takeSnapshot(request: SnapshotRequest): Promise<Snapshot | null> {
  const isLarge = (await countListedFiles(request.db, request.lockerId)) > MAX_FILES_WITHOUT_THREADS
  return isLarge ? takeSnapshotInThread(request) : takeSnapshotHere(request)
}

export async function takeSnapshotHere(request: SnapshotRequest): Promise<Snapshot | null> {
  const { db, commit, databaseUrl, lockerId, findAbsent } = request
  const reading = await readLockerFiles(db, databaseUrl, lockerId)
  const builder = createSnapshotBuilder(lockerId, (chunks) => commit((tx) => storeChunks(tx, chunks)))
  return makeSnapshot(reading, builder, (objects) => findAbsent(objectsOf(objects)), request)
}
