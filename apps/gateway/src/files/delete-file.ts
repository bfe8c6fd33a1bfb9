import type { FileDeleted } from '@svc/api/files'
import { isoSeconds } from '@svc/protocol/evidence'
import type { LockerCaller } from '../auth/callers.ts'
import { type Context, unixNow } from '../context.ts'
import type { FileRow, Locker } from '../db/schema.ts'
import { AccessEnded, type Grant, grantTo, isGranted } from '../lockers/access.ts'
import { isBeingDelivered } from './delivery/store.ts'
import { fileNotFound, keyRemoved } from './errors.ts'
import { noSuchFile } from './name-files.ts'
import { removeObject } from './objects.ts'
import {
  changeManifest,
  deleteFileRow,
  endDirectUploads,
  findFile,
  lockFile,
  releaseObjects,
  unconfirmedBytes,
} from './store.ts'

export async function deleteFile(
  context: Context,
  { locker, signer }: LockerCaller,
  filename: string,
): Promise<FileDeleted> {
  const file = await findFile(context.database.db, locker.locker_id, filename)
  if (!file) throw noSuchFile(context, filename)
  try {
    return await removeFile(context, locker, filename, grantTo(signer.identity, locker))
  } catch (error) {
    throw error instanceof AccessEnded ? keyRemoved() : error
  }
}

/** `bytes_removed` is false while the bytes are left to the sweep. Throws `AccessEnded` when the grant has ended. */
export async function removeFile(
  context: Context,
  locker: Locker,
  filename: string,
  grant: Grant,
): Promise<FileDeleted> {
  const { locker_id, provider } = locker
  const { object_id: id, provider_ref: ref, isInDelivery } = await deleteEntry(context, locker_id, filename, grant)
  const isRemoved = id === null || (!isInDelivery && (await removeObject(context, provider, id, ref)))
  return { ok: true, locker_id, filename, deleted: true, bytes_removed: isRemoved }
}

interface DeletedEntry extends FileRow {
  /** The provider is receiving the object. The sweep removes the staged copy afterwards. */
  isInDelivery: boolean
}

/**
 * Leaves the objects of direct uploads to the sweep. A redirected client can still write them, and without a row they
 * would stay forever.
 */
async function deleteEntry(context: Context, lockerId: string, filename: string, grant: Grant): Promise<DeletedEntry> {
  const now = unixNow(context)
  return context.database.db.transaction().execute(async (tx) => {
    const file = await lockFile(tx, lockerId, filename)
    if (!file) throw fileNotFound(filename)
    if (file.upload_object_id !== null) await endDirectUploads(tx, file)
    await deleteFileRow(tx, lockerId, filename)
    await releaseObjects(tx, file.object_id === null ? [] : [file.object_id], now)
    const isInDelivery = file.object_id !== null && (await isBeingDelivered(tx, file.object_id))
    const unconfirmed = -unconfirmedBytes(file)
    const change = { at: isoSeconds(now), files: -1, bytes: -(file.size_bytes ?? 0), unconfirmed }
    if (!isGranted(await changeManifest(tx, lockerId, change), grant)) throw new AccessEnded()
    return { ...file, isInDelivery }
  })
}
