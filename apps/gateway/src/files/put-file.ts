import { isoSeconds } from '@svc/protocol/evidence'
import type { Transaction } from 'kysely'
import { unixNow } from '../context.ts'
import type { FileRow, Locker, Schema } from '../db/schema.ts'
import { fileNotFound, uploadAbandoned } from './errors.ts'
import type { NewObject } from './objects.ts'
import type { FilesContext } from './room.ts'
import { settleLater } from './settling/settle-later.ts'
import { changeManifest, holdObject, lockFile, releaseObjects, updateFile, upsertFiles } from './store.ts'

export interface FilePut {
  filename: string
  object: NewObject
  contentType: string
  expectedHash: string | null
  /** Where it was computed as the bytes came: the file is confirmed at once. */
  contentHash?: string
  /** Whether a name that is not there (any more) is made. */
  mayCreate: boolean
  /** Of bytes that a client brought to the provider by itself: they count only while they are still waited for. */
  isAdoption?: true
  /** The object is held already, by whoever gives it up in the same transaction. */
  isHeld?: true
}

/**
 * Points a file at new bytes, in one transaction: the object is held, the one before it released, what was known of
 * the old bytes forgotten. Of several who put at once the last one stays.
 */
export function putFile(context: FilesContext, locker: Locker, put: FilePut): Promise<FileRow> {
  return context.database.db.transaction().execute((tx) => putFileIn(tx, context, locker, put))
}

/** The same within a transaction that has locked no other file, and does not go on to. */
export async function putFileIn(
  tx: Transaction<Schema>,
  context: FilesContext,
  locker: Locker,
  put: FilePut,
): Promise<FileRow> {
  const { locker_id } = locker
  const now = unixNow(context)
  const at = isoSeconds(now)
  const { filename, object, contentHash = null } = put
  let isNew: boolean
  let before: FileRow | null
  // A name that was there is perhaps deleted before it can be locked: then it is made after all.
  do {
    isNew = put.mayCreate && (await upsertFiles(tx, [newFile(locker, put)])) > 0
    before = (await lockFile(tx, locker_id, filename)) ?? null
  } while (!before && put.mayCreate)
  if (!before) throw fileNotFound(filename)
  if (put.isAdoption && before.upload_object_id !== object.id) return before
  if (!put.isHeld && !(await holdObject(tx, object.id, object.ref, now))) throw uploadAbandoned()
  const changes = {
    content_type: put.contentType,
    expected_hash: put.expectedHash,
    object_id: object.id,
    provider_ref: object.ref,
    size_bytes: contentHash === null ? null : object.size,
    content_hash: contentHash,
    uploaded_at: at,
    hash_recorded_at: contentHash === null ? null : at,
    upload_object_id: null,
  }
  await updateFile(tx, locker_id, filename, changes)
  await releaseObjects(tx, before.object_id === null ? [] : [before.object_id], now)
  if (contentHash !== null) {
    const { id, size } = object
    await settleLater(tx, context, locker, [{ id, size, contentHash, contentType: put.contentType }])
  }
  const isManifestChanged = isNew || before.content_hash !== contentHash || before.size_bytes !== changes.size_bytes
  if (isManifestChanged) {
    const bytes = (changes.size_bytes ?? 0) - (before.size_bytes ?? 0)
    await changeManifest(tx, locker_id, { at, files: isNew ? 1 : 0, bytes })
    if (contentHash !== null) await context.manifestChanged(tx, locker)
  }
  return { ...before, ...changes }
}

/** An entry that awaits its bytes. */
export function newFile(
  { locker_id }: Locker,
  { filename, contentType, expectedHash }: Pick<FilePut, 'filename' | 'contentType' | 'expectedHash'>,
): FileRow {
  return {
    locker_id,
    filename,
    content_type: contentType,
    expected_hash: expectedHash,
    object_id: null,
    provider_ref: null,
    size_bytes: null,
    content_hash: null,
    uploaded_at: null,
    hash_recorded_at: null,
    upload_content_type: contentType,
    upload_expected_hash: expectedHash,
    upload_object_id: null,
  }
}
