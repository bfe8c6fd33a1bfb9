// A snapshot is the list of a locker's confirmed files at one version of its manifest, kept for ever with what it takes
// to list it and to prove each file in it.

import type { Db } from '../../db/schema.ts'
import { createSnapshotBuilder } from './build-snapshot.ts'
import { makeSnapshot, type Snapshot, type SnapshotProgress } from './make-snapshot.ts'
import { sqlitePathOf } from './open-in-thread.ts'
import { readFromPostgres } from './postgres-access.ts'
import type { FindAbsent } from './present-files.ts'
import { takeSnapshotInThread } from './snapshot-thread.ts'
import { readFromSqlite } from './sqlite-access.ts'
import { countListedFiles, storeChunks } from './store.ts'

export interface SnapshotRequest extends SnapshotProgress {
  db: Db
  databaseUrl: string
  lockerId: string
  findAbsent: FindAbsent
}

/** Fewer are done in less time than threads take to start. */
const FILES_WITHOUT_THREAD = 5000

/**
 * Stores the chunks, which nobody sees until the row of the snapshot is inserted: that is left to the transaction that
 * makes a statement of it. Null when there is no file to attest.
 */
export async function takeSnapshot(request: SnapshotRequest): Promise<Snapshot | null> {
  const isLarge = (await countListedFiles(request.db, request.lockerId)) > FILES_WITHOUT_THREAD
  return isLarge ? takeSnapshotInThread(request) : takeSnapshotHere(request)
}

export async function takeSnapshotHere(request: SnapshotRequest): Promise<Snapshot | null> {
  const { db, databaseUrl, lockerId, findAbsent } = request
  const path = sqlitePathOf(databaseUrl)
  const reading = path === null ? await readFromPostgres(db, lockerId) : readFromSqlite(path, lockerId)
  const builder = createSnapshotBuilder(lockerId, (chunks) => storeChunks(db, chunks))
  return makeSnapshot(reading, builder, findAbsent, request)
}
