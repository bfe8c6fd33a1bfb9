// Points a file at a stored object, which comes from `storeBytes`, an upload session or a direct upload.

import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../context.ts'
import type { DirectUploadTable, FileRow, Locker, Tx } from '../db/schema.ts'
import { type Grant, requireGranted } from '../lockers/access.ts'
import { reserve } from '../lockers/quota.ts'
import { deliverLater } from './delivery/schedule.ts'
import { fileNotFound, uploadAbandoned } from './errors.ts'
import { manifestChanged } from './manifest-changed.ts'
import { type NamedFile, newFile } from './name-files.ts'
import { endDirectUploads, holdObject, isPending, recordSize, releaseObjects } from './object-store.ts'
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

/** The file that gets the bytes, and the preconditions. */
export interface Conditions extends NamedFile {
  /** The access of the sender. Checked in the transaction, because an upload may take hours. */
  grant: Grant
  /** Whether to create a name that does not exist or was deleted meanwhile. */
  mayCreate: boolean
  /** The value of `files.metadata`. If omitted, the new bytes have none. */
  metadata?: string | null
  /** Throws unless the upload may replace the existing file, which is null for a new name. */
  check?: (previous: FileRow | null) => void
}

export interface StoredBytes {
  object: NewObject
  /** If known, the file is confirmed immediately. */
  contentHash?: string
}

interface Placement extends Conditions, StoredBytes {
  /** The direct upload of the object. It is ignored if the file has received newer bytes. */
  adopts?: DirectUploadTable
  /** The upload session holds the object and releases it in the same transaction. */
  isHeld?: true
}

/**
 * Points a file at new bytes in one transaction: it holds the new object, releases the old one and clears its size and
 * hash. Of several concurrent calls, the last one wins. Throws `AccessEnded` when the grant has ended.
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

/** Like `placeObject`, in the caller's transaction, which must not lock other files. */
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
  /** The locker including the file. It stays locked. */
  after: ChangedLocker
  /** The previous bytes of the file; null when it had none. */
  replaced: number | null
}

/** `skipped`: the file has newer bytes than the direct upload that it should adopt. */
async function place(tx: Tx, context: Context, locker: Locker, put: Placement): Promise<Placed | { skipped: FileRow }> {
  const { locker_id } = locker
  const now = unixNow(context)
  const at = isoSeconds(now)
  const { filename, object, contentHash = null } = put
  let isNew: boolean
  let previous: FileRow | null
  // Another request may delete the name between the insert and the lock. Insert it again then.
  do {
    isNew = put.mayCreate && (await upsertFiles(tx, [newFile(locker, put)])).size > 0
    previous = (await lockFile(tx, locker_id, filename)) ?? null
  } while (!previous && put.mayCreate)
  if (!previous) throw fileNotFound(filename)
  put.check?.(isNew ? null : previous)
  const isAwaiting = previous.upload_object_id !== null
  if (put.adopts && !(isAwaiting && (await isPending(tx, previous, object.id)))) return { skipped: previous }
  if (put.isHeld) await recordSize(tx, object, locker_id)
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
    upload_object_id: isAwaiting ? await endDirectUploads(tx, previous, put.adopts) : null,
  }
  await pointFile(tx, { locker_id, filename, ...changes })
  await releaseObjects(tx, previous.object_id === null ? [] : [previous.object_id], now)
  if (contentHash !== null) {
    const { id, size } = object
    await deliverLater(tx, context, locker, [{ id, size, contentHash, contentType: put.contentType }])
  }
  const isManifestChanged = isNew || previous.content_hash !== contentHash || previous.size_bytes !== changes.size_bytes
  const bytes = (changes.size_bytes ?? 0) - (previous.size_bytes ?? 0)
  const unconfirmed = unconfirmedBytes(changes) - unconfirmedBytes(previous)
  const files = isNew ? 1 : 0
  const after = isManifestChanged
    ? await changeManifest(tx, locker_id, { at, files, bytes, unconfirmed })
    : await countUnconfirmed(tx, locker_id, unconfirmed)
  await requireGranted(tx, after, put.grant)
  await reserve(context, tx, after, { stored: bytes + unconfirmed, files, mayHaveEnded: put.adopts !== undefined })
  if (isManifestChanged && contentHash !== null) await manifestChanged(context, tx, locker)
  const replaced = previous.object_id === null ? null : (previous.object_bytes ?? 0)
  return { file: { ...previous, ...changes }, after, replaced }
}
