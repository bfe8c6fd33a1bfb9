import type { Query } from '@svc/api/endpoint'
import type * as files from '@svc/api/files'
import { isoSeconds } from '@svc/protocol/evidence'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import type { LockerCaller } from '../auth/callers.ts'
import { type Context, unixNow } from '../context.ts'
import type { FileRow, Locker } from '../db/schema.ts'
import { AccessEnded, type Grant, grantTo, requireGranted } from '../lockers/access.ts'
import { isBeingDelivered } from './delivery/store.ts'
import { fileNotFound, keyRemoved } from './errors.ts'
import { HASH_PROBLEM, noSuchFile, readExpectedHash } from './name-files.ts'
import { endDirectUploads, releaseObjects } from './object-store.ts'
import { removeObject } from './objects.ts'
import { changeManifest, deleteFileRow, findFile, lockFile, unconfirmedBytes } from './store.ts'

export async function deleteFile(
  context: Context,
  { locker, signer }: LockerCaller,
  filename: string,
  query: Query<typeof files.deleteFile>,
): Promise<files.FileDeleted> {
  const condition = readCondition(query)
  const file = await findFile(context.database.db, locker.locker_id, filename)
  if (!file) throw noSuchFile(context, filename)
  try {
    return await removeFile(context, locker, filename, { grant: grantTo(signer.identity, locker), condition })
  } catch (error) {
    throw error instanceof AccessEnded ? keyRemoved() : error
  }
}

/** Identifies the bytes that the caller intends to delete. A newer upload under the same name is left alone (T-17). */
interface Condition {
  contentHash?: string
  /** Null: the file has no bytes yet. */
  uploadedAt?: string | null
}

const NO_UPLOAD = 'none'

function readCondition({ expected_hash, expected_uploaded_at }: Query<typeof files.deleteFile>): Condition {
  const contentHash = expected_hash === undefined ? null : readExpectedHash(expected_hash)
  if (expected_hash !== undefined && contentHash === null)
    throw new ValidationError({ loc: ['query', 'expected_hash'], msg: HASH_PROBLEM })
  return {
    ...(contentHash !== null && { contentHash }),
    ...(expected_uploaded_at !== undefined && {
      uploadedAt: expected_uploaded_at === NO_UPLOAD ? null : expected_uploaded_at,
    }),
  }
}

interface Removal {
  grant: Grant
  condition?: Condition
  /** Throws unless the file meets the caller's condition. */
  check?: (file: FileRow) => void
}

/**
 * `bytes_removed` is false while the sweep still has to remove the bytes. Throws `AccessEnded` when the grant has
 * ended.
 */
export async function removeFile(
  context: Context,
  locker: Locker,
  filename: string,
  removal: Removal,
): Promise<files.FileDeleted> {
  const { locker_id, provider } = locker
  const { object_id: id, provider_ref: ref, isInDelivery } = await deleteEntry(context, locker_id, filename, removal)
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
async function deleteEntry(
  context: Context,
  lockerId: string,
  filename: string,
  { grant, condition = {}, check }: Removal,
): Promise<DeletedEntry> {
  const now = unixNow(context)
  return context.database.commit(async (tx) => {
    const file = await lockFile(tx, lockerId, filename)
    if (!file) throw fileNotFound(filename)
    requireUnchanged(file, condition)
    check?.(file)
    if (file.upload_object_id !== null) await endDirectUploads(tx, file)
    await deleteFileRow(tx, lockerId, filename)
    await releaseObjects(tx, file.object_id === null ? [] : [file.object_id], now)
    const isInDelivery = file.object_id !== null && (await isBeingDelivered(tx, file.object_id))
    const unconfirmed = -unconfirmedBytes(file)
    const change = { at: isoSeconds(now), files: -1, bytes: -(file.size_bytes ?? 0), unconfirmed }
    await requireGranted(tx, await changeManifest(tx, lockerId, change), grant)
    return { ...file, isInDelivery }
  })
}

function requireUnchanged(
  { filename, content_hash, uploaded_at }: FileRow,
  { contentHash, uploadedAt }: Condition,
): void {
  const hasHash = contentHash === undefined || contentHash === content_hash
  if (hasHash && (uploadedAt === undefined || uploadedAt === uploaded_at)) return
  throw new ServiceError('PRECONDITION_FAILED', `${JSON.stringify(filename)} is not the expected file`, {
    hint: 'the file was uploaded again; nothing was removed; read the list of files before you retry',
    details: { filename, content_hash, uploaded_at },
  })
}
