import { sortedByFilename } from '@svc/protocol/order'
import type { Transaction } from 'kysely'
import type { Db, FileRow, Locker, ObjectTable, Schema } from '../db/schema.ts'
import { callOff } from './settling/store.ts'

type Tx = Transaction<Schema>

export async function findFile(db: Db, lockerId: string, filename: string): Promise<FileRow | null> {
  const row = await ofLocker(db, lockerId).where('filename', '=', filename).executeTakeFirst()
  return row ?? null
}

/** In no order; fewer than names where some are not there. */
export async function findFiles(db: Db, lockerId: string, filenames: readonly string[]): Promise<FileRow[]> {
  if (filenames.length === 0) return []
  return ofLocker(db, lockerId).where('filename', 'in', filenames).execute()
}

/** In code-point order, beginning after a name. */
export function pageOfFiles(db: Db, lockerId: string, after: string | null, limit: number): Promise<FileRow[]> {
  return filesAfter(db, lockerId, after, limit).execute()
}

export type ManifestFacts = Pick<Locker, 'manifest_version' | 'manifest_changed_at' | 'file_count' | 'total_bytes'>

/** The same with what the locker says of all its files at that moment: one statement sees one state. */
export async function pageOfManifest(
  db: Db,
  lockerId: string,
  after: string | null,
  limit: number,
): Promise<{ facts: ManifestFacts; files: FileRow[] }> {
  const rows = await db
    .selectFrom('lockers')
    .leftJoin(filesAfter(db, lockerId, after, limit).as('file'), (join) => join.onTrue())
    .selectAll('file')
    .select(['manifest_version', 'manifest_changed_at', 'file_count', 'total_bytes'])
    .where('lockers.locker_id', '=', lockerId)
    .orderBy('file.filename')
    .execute()
  const facts = rows[0]
  if (!facts) throw new Error(`there is no locker ${lockerId}`)
  // A row has a whole file, or, where there is none, no column of one.
  return { facts, files: rows.filter(({ filename }) => filename !== null) as (ManifestFacts & FileRow)[] }
}

function filesAfter(db: Db, lockerId: string, after: string | null, limit: number) {
  const files = ofLocker(db, lockerId).orderBy('filename').limit(limit)
  return after === null ? files : files.where('filename', '>', after)
}

function ofLocker(db: Db, lockerId: string) {
  return db.selectFrom('files').selectAll().where('locker_id', '=', lockerId)
}

/** Kept from others until the end of the transaction. */
export async function lockFile(tx: Tx, lockerId: string, filename: string): Promise<FileRow | null> {
  return (await ofLocker(tx, lockerId).where('filename', '=', filename).forUpdate().executeTakeFirst()) ?? null
}

export async function findLockerOf(db: Db, by: { locker_id: string } | { receipt_id: string }): Promise<Locker | null> {
  const lockers = db.selectFrom('lockers').selectAll()
  const chosen =
    'locker_id' in by ? lockers.where('locker_id', '=', by.locker_id) : lockers.where('receipt_id', '=', by.receipt_id)
  return (await chosen.executeTakeFirst()) ?? null
}

/** How many of the names are new. Of those that are there, what the next upload must be like is replaced. */
export async function upsertFiles(tx: Tx, files: readonly FileRow[]): Promise<number> {
  const inserted = await tx
    .insertInto('files')
    .values(files)
    .onConflict((conflict) => conflict.columns(['locker_id', 'filename']).doNothing())
    .returning('filename')
    .execute()
  const isNew = new Set(inserted.map(({ filename }) => filename))
  for (const { locker_id, filename, upload_content_type, upload_expected_hash } of files) {
    if (!isNew.has(filename)) await updateFile(tx, locker_id, filename, { upload_content_type, upload_expected_hash })
  }
  return isNew.size
}

export async function updateFile(
  tx: Tx,
  lockerId: string,
  filename: string,
  changes: Partial<Omit<FileRow, 'locker_id' | 'filename'>>,
): Promise<void> {
  await tx
    .updateTable('files')
    .set(changes)
    .where('locker_id', '=', lockerId)
    .where('filename', '=', filename)
    .execute()
}

export async function deleteFileRow(tx: Tx, lockerId: string, filename: string): Promise<void> {
  await tx.deleteFrom('files').where('locker_id', '=', lockerId).where('filename', '=', filename).execute()
}

export interface FileReading {
  filename: string
  objectId: string
  size: number
  contentHash: string
}

/** Those that are recorded: the file still points at what was read, and nobody recorded it before. */
export async function recordHashes(
  tx: Tx,
  lockerId: string,
  readings: readonly FileReading[],
  at: string,
): Promise<FileReading[]> {
  const recorded: FileReading[] = []
  for (const reading of sortedByFilename(readings)) {
    const { numUpdatedRows } = await tx
      .updateTable('files')
      .set({ size_bytes: reading.size, content_hash: reading.contentHash, hash_recorded_at: at })
      .where('locker_id', '=', lockerId)
      .where('filename', '=', reading.filename)
      .where('object_id', '=', reading.objectId)
      .where('content_hash', 'is', null)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows > 0n) recorded.push(reading)
  }
  return recorded
}

/** Counts a change of names, sizes or hashes. The locker's row comes last in a transaction: many files share it. */
export async function changeManifest(
  tx: Tx,
  lockerId: string,
  { at, files = 0, bytes = 0 }: { at: string; files?: number; bytes?: number },
): Promise<void> {
  await tx
    .updateTable('lockers')
    .set((eb) => ({
      manifest_version: eb('manifest_version', '+', 1),
      manifest_changed_at: at,
      file_count: eb('file_count', '+', files),
      total_bytes: eb('total_bytes', '+', bytes),
    }))
    .where('locker_id', '=', lockerId)
    .execute()
}

export async function insertObjects(db: Db, objects: readonly ObjectTable[]): Promise<void> {
  await db.insertInto('objects').values(objects).execute()
}

/** False when it is not being written any more: it took too long, and was cleared away. */
export async function holdObject(tx: Tx, objectId: string, ref: string | null, since: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('objects')
    .set({ state: 'held', provider_ref: ref, since })
    .where('object_id', '=', objectId)
    .where('state', '=', 'writing')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** What nobody holds need not settle, either. */
export async function releaseObjects(tx: Tx, objectIds: readonly string[], since: number): Promise<void> {
  if (objectIds.length === 0) return
  await tx.updateTable('objects').set({ state: 'released', since }).where('object_id', 'in', objectIds).execute()
  await callOff(tx, objectIds)
}

export async function deleteObjectRow(db: Db, objectId: string): Promise<void> {
  await db.deleteFrom('objects').where('object_id', '=', objectId).execute()
}

/** The oldest that nobody holds, nor is settling any more: released or unfinished before these times. */
export function findUnheldObjects(
  db: Db,
  before: { released: number; writing: number },
  limit: number,
): Promise<ObjectTable[]> {
  return db
    .selectFrom('objects')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb.and([eb('state', '=', 'released'), eb('since', '<', before.released)]),
        eb.and([eb('state', '=', 'writing'), eb('since', '<', before.writing)]),
      ]),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('settling_objects')
            .select('since')
            .whereRef('settling_objects.object_id', '=', 'objects.object_id'),
        ),
      ),
    )
    .orderBy('since')
    .limit(limit)
    .execute()
}

/**
 * Takes an unheld object out of everybody's reach, as released just now: one that cannot be removed is behind all others
 * then. False when it is held after all.
 */
export async function condemnObject(db: Db, { object_id, state, since }: ObjectTable, now: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('objects')
    .set({ state: 'released', since: now })
    .where('object_id', '=', object_id)
    .where('state', '=', state)
    .where('since', '=', since)
    // Its state says so already; what cannot be undone is asked for twice.
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('files').select('filename').whereRef('files.object_id', '=', 'objects.object_id'))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('upload_parts').select('file_id').whereRef('upload_parts.object_id', '=', 'objects.object_id'),
        ),
      ),
    )
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
