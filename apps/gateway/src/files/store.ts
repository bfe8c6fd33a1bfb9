// Queries for the file names of a locker, the objects that they point at, and the locker's totals.

import { inJsonRows, itemText, jsonRows, prepared, preparedRow } from '@svc/database/prepared'
import { compareCodePoints, sortedByFilename } from '@svc/protocol/order'
import { sql } from 'kysely'
import { requireWritable } from '../auth/restrictions.ts'
import type { Db, FileRow, Locker, Tx } from '../db/schema.ts'
import { ACCESS, type LockerAccess } from '../lockers/access.ts'
import type { Account } from '../lockers/quota.ts'
import { USAGE } from '../lockers/terms.ts'

export async function findFile(db: Db, lockerId: string, filename: string): Promise<FileRow | null> {
  return (await selectFile(db, lockerId, filename)).rows[0] ?? null
}

const selectFile = prepared((db: Db, lockerId: string, filename: string) =>
  ofLocker(db, lockerId).where('filename', '=', filename),
)

/** In no particular order. Names that do not exist are omitted. */
export async function findFiles(db: Db, lockerId: string, filenames: readonly string[]): Promise<FileRow[]> {
  if (filenames.length === 0) return []
  return (await selectFiles(db, lockerId, JSON.stringify(filenames.map((filename) => [filename])))).rows
}

const selectFiles = prepared((db: Db, lockerId: string, names: string) =>
  ofLocker(db, lockerId).where(inJsonRows(db, 'filename', names)),
)

function ofLocker(db: Db, lockerId: string) {
  return db.selectFrom('files').selectAll().where('locker_id', '=', lockerId)
}

/** Locks the row until the end of the transaction. */
export async function lockFile(tx: Tx, lockerId: string, filename: string): Promise<FileRow | null> {
  return (await selectOneForUpdate(tx, lockerId, filename)).rows[0] ?? null
}

const selectOneForUpdate = prepared((tx: Tx, lockerId: string, filename: string) =>
  ofLocker(tx, lockerId).where('filename', '=', filename).forUpdate(),
)

/** Locks the existing rows in a fixed order. */
export async function lockFiles(tx: Tx, lockerId: string, filenames: readonly string[]): Promise<FileRow[]> {
  return (await selectForUpdate(tx, lockerId, JSON.stringify(filenames.map((filename) => [filename])))).rows
}

const selectForUpdate = prepared((tx: Tx, lockerId: string, names: string) =>
  ofLocker(tx, lockerId)
    .where(inJsonRows(tx, 'filename', names))
    .orderBy('filename')
    .forUpdate(),
)

export async function findLockerOf(
  db: Db,
  by: { locker_id: string } | { receipt_id: string } | { link_handle: string },
): Promise<Locker | null> {
  const found =
    'locker_id' in by
      ? lockerById(db, by.locker_id)
      : 'receipt_id' in by
        ? lockerByReceipt(db, by.receipt_id)
        : lockerByLink(db, by.link_handle)
  return (await found).rows[0] ?? null
}

const lockerBy = (column: 'locker_id' | 'receipt_id' | 'link_handle') =>
  prepared((db: Db, id: string) => db.selectFrom('lockers').selectAll().where(column, '=', id))
const lockerById = lockerBy('locker_id')
const lockerByReceipt = lockerBy('receipt_id')
const lockerByLink = lockerBy('link_handle')

/**
 * Returns the files whose names are new. An existing name gets the type and hash for its next upload. If a name is
 * repeated, the first occurrence may be new, and the type and hash of the last one apply.
 */
export async function upsertFiles<File extends FileRow>(tx: Tx, files: readonly File[]): Promise<Set<File>> {
  const added = new Set<File>()
  if (files.length === 0) return added
  // A fixed order, because transactions that lock the same names in different orders would deadlock.
  const groups = [...Map.groupBy(files, keyOf)].sort(([a], [b]) => compareCodePoints(a, b)) as [string, [File]][]
  const inserted = await insertNewFiles(tx, newFileRows(groups.map(([, [file]]) => file)))
  const newKeys = new Set(inserted.rows.map(keyOf))
  for (const [key, group] of groups) {
    if (newKeys.has(key)) added.add(group[0])
    if (newKeys.has(key) && group.length === 1) continue
    const { locker_id, filename, upload_content_type, upload_expected_hash } = group.at(-1) as File // groups are never empty
    await updateFile(tx, locker_id, filename, { upload_content_type, upload_expected_hash })
  }
  return added
}

/** Inserts the entries whose names do not exist, and returns those names. */
export async function insertMissingFiles(tx: Tx, files: readonly FileRow[]): Promise<string[]> {
  const { rows } = await insertNewFiles(tx, newFileRows(sortedByFilename(files)))
  return rows.map(({ filename }) => filename)
}

function newFileRows(files: readonly FileRow[]): string {
  return JSON.stringify(files.map((file) => NEW_FILE.map((key) => file[key])))
}

function keyOf({ locker_id, filename }: Pick<FileRow, 'locker_id' | 'filename'>): string {
  return `${locker_id}/${filename}`
}

/** The columns of a new name; the others are null. */
const NEW_FILE = [
  'locker_id',
  'filename',
  'content_type',
  'expected_hash',
  'upload_content_type',
  'upload_expected_hash',
] as const

const insertNewFiles = prepared((tx: Tx, rows: string) =>
  tx
    .insertInto('files')
    .columns(NEW_FILE)
    .expression((eb) =>
      eb
        .selectFrom(jsonRows(tx, rows).as('item'))
        .select(NEW_FILE.map((column, i) => itemText(i).as(column)))
        // Without this, SQLite would parse `on conflict` as the condition of a join.
        .where(sql<boolean>`true`),
    )
    .onConflict((conflict) => conflict.columns(['locker_id', 'filename']).doNothing())
    .returning(['locker_id', 'filename']),
)

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

/** The columns that describe the current bytes of a file. */
const BYTES = [
  'content_type',
  'metadata',
  'expected_hash',
  'object_id',
  'provider_ref',
  'object_bytes',
  'size_bytes',
  'content_hash',
  'uploaded_at',
  'hash_recorded_at',
  'upload_object_id',
] as const

/** The caller holds the lock of the file. */
export async function pointFile(
  tx: Tx,
  file: Pick<FileRow, 'locker_id' | 'filename' | (typeof BYTES)[number]>,
): Promise<void> {
  await setBytes(tx, file)
}

const setBytes = preparedRow(['locker_id', 'filename', ...BYTES], (tx: Tx, { locker_id, filename, ...bytes }) =>
  tx.updateTable('files').set(bytes).where('locker_id', '=', locker_id).where('filename', '=', filename),
)

export async function deleteFileRow(tx: Tx, lockerId: string, filename: string): Promise<void> {
  await tx.deleteFrom('files').where('locker_id', '=', lockerId).where('filename', '=', filename).execute()
}

export interface FileReading {
  filename: string
  objectId: string
  size: number
  contentHash: string
}

/** Returns the recorded readings: those whose file still points at the object and has no hash yet. */
export async function recordHashes(
  tx: Tx,
  lockerId: string,
  readings: readonly FileReading[],
  at: string,
): Promise<RecordedReading[]> {
  const recorded: RecordedReading[] = []
  for (const reading of sortedByFilename(readings)) {
    const row = await tx
      .updateTable('files')
      .set({ size_bytes: reading.size, content_hash: reading.contentHash, hash_recorded_at: at })
      .where('locker_id', '=', lockerId)
      .where('filename', '=', reading.filename)
      .where('object_id', '=', reading.objectId)
      .where('content_hash', 'is', null)
      .returning('object_bytes')
      .executeTakeFirst()
    if (row) recorded.push({ ...reading, unconfirmed: row.object_bytes ?? 0 })
  }
  return recorded
}

interface RecordedReading extends FileReading {
  /** The bytes that the file counted for previously. */
  unconfirmed: number
}

/** The columns of a locker that writes need: who has access, and its quota. */
export type ChangedLocker = LockerAccess & Account

const CHANGED = ['locker_id', ...ACCESS, ...USAGE] as const

interface ManifestChange {
  at: string
  files?: number
  /** Bytes of confirmed files. */
  bytes?: number
  /** Bytes of files that are not confirmed. */
  unconfirmed?: number
  changes?: number
}

/**
 * Counts changes of names, sizes or hashes. Call it last in a transaction, because it locks the row that all files
 * share. Returns the locker, which is locked until the transaction ends.
 */
export async function changeManifest(
  tx: Tx,
  lockerId: string,
  { at, files = 0, bytes = 0, unconfirmed = 0, changes = 1 }: ManifestChange,
): Promise<ChangedLocker> {
  return onlyLocker(lockerId, (await countChanges(tx, lockerId, at, files, bytes, unconfirmed, changes)).rows)
}

const countChanges = prepared(
  (tx: Tx, lockerId: string, at: string, files: number, bytes: number, unconfirmed: number, changes: number) =>
    tx
      .updateTable('lockers')
      .set((eb) => ({
        manifest_version: eb('manifest_version', '+', changes),
        manifest_changed_at: at,
        file_count: eb('file_count', '+', files),
        total_bytes: eb('total_bytes', '+', bytes),
        unconfirmed_bytes: eb('unconfirmed_bytes', '+', unconfirmed),
      }))
      .where('locker_id', '=', lockerId)
      .returning(CHANGED),
)

/** Counts unconfirmed bytes, which do not change the manifest. Locks the locker's row, so call it last, too. */
export async function countUnconfirmed(tx: Tx, lockerId: string, bytes: number): Promise<ChangedLocker> {
  return onlyLocker(lockerId, (await addUnconfirmed(tx, lockerId, bytes)).rows)
}

const addUnconfirmed = prepared((tx: Tx, lockerId: string, bytes: number) =>
  tx
    .updateTable('lockers')
    .set((eb) => ({ unconfirmed_bytes: eb('unconfirmed_bytes', '+', bytes) }))
    .where('locker_id', '=', lockerId)
    .returning(CHANGED),
)

/** Every change to a locker's files passes this check, which enforces restrictions whatever was checked earlier. */
function onlyLocker(lockerId: string, [locker]: readonly ChangedLocker[]): ChangedLocker {
  if (!locker) throw new Error(`there is no locker ${lockerId}`)
  requireWritable(locker)
  return locker
}

/** The unconfirmed bytes that a file counts for. */
export function unconfirmedBytes({
  content_hash,
  object_bytes,
}: Pick<FileRow, 'content_hash' | 'object_bytes'>): number {
  return content_hash === null ? (object_bytes ?? 0) : 0
}

/** All bytes that a file counts for. */
export function countedBytes(file: FileRow): number {
  return (file.size_bytes ?? 0) + unconfirmedBytes(file)
}
