// Pointing a file at an object that is stored: what `storeBytes` has written, what an upload session has put together, or
// what a client has sent straight to a provider.

import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../context.ts'
import type { DirectUploadTable, FileRow, Locker, Tx } from '../db/schema.ts'
import { type Grant, requireGranted } from '../lockers/access.ts'
import { reserve } from '../lockers/quota.ts'
import { deliverLater } from './delivery/schedule.ts'
import { fileNotFound, uploadAbandoned } from './errors.ts'
import { manifestChanged } from './manifest-changed.ts'
import { type NamedFile, newFile } from './name-files.ts'
import { endDirectUploads, holdObject, isAwaited, noteSize, releaseObjects } from './object-store.ts'
import type { NewObject } from './objects.ts'
import {
  type ChangedLocker,
  changeManifest,
  countUnconfirmed,
  lockFile,
  pointFile,
  unconfirmedBytes,
  upsertFiles,
} from './store.ts'

/** The file that gets the bytes, and what must be true for that. */
export interface Conditions extends NamedFile {
  /** Who sends the bytes. Checked in the transaction, because an upload may take hours. */
  grant: Grant
  /** Whether to create a name that does not exist, or was deleted meanwhile. */
  mayCreate: boolean
  /** As `files.metadata` keeps it. Other bytes without it have none. */
  metadata?: string | null
  /** Throws unless this may take the place of the file that is there, which is null for a new name. */
  check?: (before: FileRow | null) => void
}

export interface StoredBytes {
  object: NewObject
  /** Where it is known, the file is confirmed at once. */
  contentHash?: string
}

interface Placement extends Conditions, StoredBytes {
  /** The direct upload that the object belongs to. It is ignored once the file has bytes that were sent later. */
  adopts?: DirectUploadTable
  /** An upload session holds the object, and gives it up in the same transaction. */
  isHeld?: true
}

/**
 * Points a file at new bytes in one transaction: it holds the new object, releases the old one and clears its size and
 * hash. Of several at once the last one wins. Throws `AccessEnded` when the grant has ended.
 */
export function placeObject(context: Context, locker: Locker, put: Placement): Promise<FileRow> {
  return context.database.commit(async (tx) => {
    const placed = await place(tx, context, locker, put)
    if ('skipped' in placed) return placed.skipped
    const { file, after, replaced } = placed
    if (replaced !== null && !put.adopts) await reserve(context, tx, after, { trash: replaced })
    return file
  })
}

/** The same inside a caller's transaction, which must lock no other file. */
export async function placeObjectIn(
  tx: Tx,
  context: Context,
  locker: Locker,
  put: Omit<Placement, 'adopts'>,
): Promise<void> {
  await place(tx, context, locker, put)
}

interface Placed {
  file: FileRow
  /** With the file. Its lock is held from then on. */
  after: ChangedLocker
  /** The bytes that the file had before; null when it had none. */
  replaced: number | null
}

/** `skipped`: the file has later bytes than those of the upload that it was to adopt. */
async function place(tx: Tx, context: Context, locker: Locker, put: Placement): Promise<Placed | { skipped: FileRow }> {
  const { locker_id } = locker
  const now = unixNow(context)
  const at = isoSeconds(now)
  const { filename, object, contentHash = null } = put
  let isNew: boolean
  let before: FileRow | null
  // Another request may delete the name between the insert and the lock. Insert it again then.
  do {
    isNew = put.mayCreate && (await upsertFiles(tx, [newFile(locker, put)])).size > 0
    before = (await lockFile(tx, locker_id, filename)) ?? null
  } while (!before && put.mayCreate)
  if (!before) throw fileNotFound(filename)
  put.check?.(isNew ? null : before)
  const isAwaiting = before.upload_object_id !== null
  if (put.adopts && !(isAwaiting && (await isAwaited(tx, before, object.id)))) return { skipped: before }
  if (put.isHeld) await noteSize(tx, object, locker_id)
  else if (!(await holdObject(tx, object, locker_id, now))) throw uploadAbandoned()
  const changes = {
    content_type: put.contentType,
    metadata: put.metadata ?? null,
    expected_hash: put.expectedHash,
    object_id: object.id,
    provider_ref: object.ref,
    object_bytes: object.size,
    size_bytes: contentHash === null ? null : object.size,
    content_hash: contentHash,
    uploaded_at: at,
    hash_recorded_at: contentHash === null ? null : at,
    upload_object_id: isAwaiting ? await endDirectUploads(tx, before, put.adopts) : null,
  }
  await pointFile(tx, { locker_id, filename, ...changes })
  await releaseObjects(tx, before.object_id === null ? [] : [before.object_id], now)
  if (contentHash !== null) {
    const { id, size } = object
    await deliverLater(tx, context, locker, [{ id, size, contentHash, contentType: put.contentType }])
  }
  const isManifestChanged = isNew || before.content_hash !== contentHash || before.size_bytes !== changes.size_bytes
  const bytes = (changes.size_bytes ?? 0) - (before.size_bytes ?? 0)
  const unconfirmed = unconfirmedBytes(changes) - unconfirmedBytes(before)
  const files = isNew ? 1 : 0
  const after = isManifestChanged
    ? await changeManifest(tx, locker_id, { at, files, bytes, unconfirmed })
    : await countUnconfirmed(tx, locker_id, unconfirmed)
  await requireGranted(tx, after, put.grant)
  await reserve(context, tx, after, { stored: bytes + unconfirmed, files, mayHaveEnded: put.adopts !== undefined })
  if (isManifestChanged && contentHash !== null) await manifestChanged(context, tx, locker)
  const replaced = before.object_id === null ? null : (before.object_bytes ?? 0)
  return { file: { ...before, ...changes }, after, replaced }
}
