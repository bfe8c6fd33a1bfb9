// Uploads that clients send straight to a provider. No client reports that its upload is done: the file takes the bytes
// when they are first found, at the latest when the sweep looks for them.

import type { ServiceError } from '@svc/service/service-error'
import type { ObjectKey } from '@svc/storage/provider'
import { isRestrictionError } from '../auth/restrictions.ts'
import { type Context, unixNow } from '../context.ts'
import type { DirectUploadTable, FileRow, Locker } from '../db/schema.ts'
import { AccessEnded, grantOf, isGranted } from '../lockers/access.ts'
import { isCapacityExceeded } from '../lockers/quota.ts'
import { directUploadTooLarge } from './errors.ts'
import { findDirectUploads, findLockerUploads, giveUpDirectUpload } from './object-store.ts'
import { maxObjectBytes, removeObject, statObject } from './objects.ts'
import { placeObject } from './place-object.ts'
import { findFile } from './store.ts'

export interface CurrentBytes {
  file: FileRow
  key: ObjectKey
}

/** The object that a file points at, after adopting what clients have uploaded directly; null if there is none. */
export async function currentBytes(context: Context, locker: Locker, file: FileRow): Promise<CurrentBytes | null> {
  return bytesOf((await adoptUploads(context, locker, file)).file)
}

/**
 * The file of a name with the bytes that it has, before a write that depends on them. Those that have arrived and that
 * nobody has read are bytes as well (T-17).
 */
export async function findCurrent(context: Context, locker: Locker, filename: string): Promise<FileRow | null> {
  const file = await findFile(context.database.db, locker.locker_id, filename)
  return file && (await adoptUploads(context, locker, file)).file
}

export function bytesOf(file: FileRow): CurrentBytes | null {
  const { object_id, provider_ref } = file
  return object_id === null ? null : { file, key: { id: object_id, ref: provider_ref } }
}

/** Anybody with an upload URL can have many awaited, and each costs a request to the provider. The sweep sees them all. */
const UPLOADS_AT_ONCE = 4

/** The newest upload that has arrived counts. `refusal`: one has arrived that cannot be taken. */
export async function adoptUploads(
  context: Context,
  locker: Locker,
  file: FileRow,
): Promise<{ file: FileRow; refusal: ServiceError | null }> {
  if (file.upload_object_id === null) return { file, refusal: null }
  const { db } = context.database
  const { locker_id, filename } = file
  let refusal: ServiceError | null = null
  for (const upload of await findDirectUploads(db, locker_id, filename, UPLOADS_AT_ONCE)) {
    const adoption = await adoptUpload(context, locker, upload)
    if (adoption.outcome === 'adopted') return { file: adoption.file, refusal }
    if (adoption.outcome === 'refused') refusal ??= adoption.refusal
  }
  // Another gateway may have adopted one meanwhile.
  return { file: (await findFile(db, locker_id, filename)) ?? file, refusal }
}

type Adoption =
  | { outcome: 'adopted'; file: FileRow }
  | { outcome: 'absent' | 'revoked' | 'waiting' }
  | { outcome: 'refused'; refusal: ServiceError }

/**
 * Bytes that cannot be taken are removed. A locker that is restricted takes none, nor does a database that is behind, and
 * they stay where they are (T-50, T-37).
 */
export async function adoptUpload(context: Context, locker: Locker, upload: DirectUploadTable): Promise<Adoption> {
  const { object_id: id, filename } = upload
  const grant = grantOf(upload)
  if (locker.restriction !== null || !(await context.continuity.isCurrent())) return { outcome: 'waiting' }
  const found = await statObject(context, locker, { id, ref: null })
  if (!found) return { outcome: 'absent' }
  const maxBytes = maxObjectBytes(context, locker.provider)
  if (found.size > maxBytes) {
    await giveUpUpload(context, locker, upload)
    return { outcome: 'refused', refusal: directUploadTooLarge(filename, found.size, maxBytes) }
  }
  try {
    if (!isGranted(locker, grant)) throw new AccessEnded()
    const { content_type: contentType, expected_hash: expectedHash } = upload
    const object = { id, size: found.size, ref: null }
    const put = { filename, object, grant, contentType, expectedHash, mayCreate: false, adopts: upload }
    return { outcome: 'adopted', file: await placeObject(context, locker, put) }
  } catch (error) {
    if (isRestrictionError(error)) return { outcome: 'waiting' }
    const isFull = isCapacityExceeded(error)
    if (!isFull && !(error instanceof AccessEnded)) throw error
    await giveUpUpload(context, locker, upload)
    return isFull ? { outcome: 'refused', refusal: error } : { outcome: 'revoked' }
  }
}

const ARRIVED_AT_ONCE = 100
const ARRIVED_MS = 5_000

/**
 * Takes what has arrived, before access ends: what was accepted in time stays (T-50). It must not hold up the end of
 * access, so it takes a few seconds at most, and an error ends it.
 */
export async function adoptArrived(context: Context, locker: Locker, mintedBy: string | null): Promise<void> {
  const end = performance.now() + ARRIVED_MS
  try {
    const uploads = await findLockerUploads(context.database.db, locker.locker_id, mintedBy, ARRIVED_AT_ONCE)
    for (const upload of uploads) {
      if (performance.now() > end) return
      await adoptUpload(context, locker, upload)
    }
  } catch (error) {
    context.log.warn({ locker_id: locker.locker_id, err: error }, 'direct uploads could not be looked for')
  }
}

/** Removes the object, unless the file has adopted it meanwhile. */
export async function giveUpUpload(
  context: Context,
  { provider }: Locker,
  upload: DirectUploadTable,
): Promise<boolean> {
  const now = unixNow(context)
  const isGivenUp = await context.database.commit((tx) => giveUpDirectUpload(tx, upload, now))
  return isGivenUp && removeObject(context, provider, upload.object_id, null)
}
