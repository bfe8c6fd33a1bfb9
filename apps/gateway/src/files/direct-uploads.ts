// Uploads that clients send directly to a provider. No client reports their completion: the file adopts the bytes when
// they are first found, at the latest by the sweep.

import type { ServiceError } from '@svc/service/service-error'
import type { ObjectKey } from '@svc/storage/provider'
import { isRestrictionError } from '../auth/restrictions.ts'
import { type Context, unixNow } from '../context.ts'
import type { DirectUploadTable, FileRow, Locker } from '../db/schema.ts'
import { AccessEnded, grantOf, isGranted } from '../lockers/access.ts'
import { isCapacityExceeded } from '../lockers/quota.ts'
import { directUploadTooLarge } from './errors.ts'
import { abandonDirectUpload, findDirectUploads, findLockerUploads } from './object-store.ts'
import { maxObjectBytes, removeObject, statObject } from './objects.ts'
import { placeObject } from './place-object.ts'
import { findFile } from './store.ts'

export interface CurrentBytes {
  file: FileRow
  key: ObjectKey
}

/** The object that a file points at, after adopting direct uploads; null if there is none. */
export async function currentBytes(context: Context, locker: Locker, file: FileRow): Promise<CurrentBytes | null> {
  return bytesOf((await adoptUploads(context, locker, file)).file)
}

/**
 * The named file with its current bytes, for a write that depends on them. Direct uploads that arrived unread count too
 * (T-17).
 */
export async function findCurrent(context: Context, locker: Locker, filename: string): Promise<FileRow | null> {
  const file = await findFile(context.database.db, locker.locker_id, filename)
  return file && (await adoptUploads(context, locker, file)).file
}

export function bytesOf(file: FileRow): CurrentBytes | null {
  const { object_id, provider_ref } = file
  return object_id === null ? null : { file, key: { id: object_id, ref: provider_ref } }
}

/**
 * Any holder of an upload URL can have many pending uploads, and each costs a request to the provider. The sweep checks
 * all of them.
 */
const MAX_CHECKED = 4

/** The newest upload that has arrived counts. `refusal`: an upload has arrived that was rejected. */
export async function adoptUploads(
  context: Context,
  locker: Locker,
  file: FileRow,
): Promise<{ file: FileRow; refusal: ServiceError | null }> {
  if (file.upload_object_id === null) return { file, refusal: null }
  const { db } = context.database
  const { locker_id, filename } = file
  let refusal: ServiceError | null = null
  for (const upload of await findDirectUploads(db, locker_id, filename, MAX_CHECKED)) {
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
 * Removes bytes that are rejected. While the locker is restricted or the database is behind, the bytes stay where they
 * are (T-50, T-37).
 */
export async function adoptUpload(context: Context, locker: Locker, upload: DirectUploadTable): Promise<Adoption> {
  const { object_id: id, filename } = upload
  const grant = grantOf(upload)
  if (locker.restriction !== null || !(await context.continuity.isCurrent())) return { outcome: 'waiting' }
  const found = await statObject(context, locker, { id, ref: null })
  if (!found) return { outcome: 'absent' }
  const maxBytes = maxObjectBytes(context, locker.provider)
  if (found.size > maxBytes) {
    await abandonUpload(context, locker, upload)
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
    await abandonUpload(context, locker, upload)
    return isFull ? { outcome: 'refused', refusal: error } : { outcome: 'revoked' }
  }
}

const MAX_ARRIVED = 100
const ARRIVED_MS = 5_000

/**
 * Adopts arrived uploads before access ends: uploads accepted in time stay (T-50). It must not delay the end of access,
 * so it runs for a few seconds at most, and an error stops it.
 */
export async function adoptArrived(context: Context, locker: Locker, mintedBy: string | null): Promise<void> {
  const end = performance.now() + ARRIVED_MS
  try {
    const uploads = await findLockerUploads(context.database.db, locker.locker_id, mintedBy, MAX_ARRIVED)
    for (const upload of uploads) {
      if (performance.now() > end) return
      await adoptUpload(context, locker, upload)
    }
  } catch (error) {
    context.log.warn({ locker_id: locker.locker_id, err: error }, 'cannot check for direct uploads')
  }
}

/** Removes the object, unless the file has adopted it meanwhile. */
export async function abandonUpload(
  context: Context,
  { provider }: Locker,
  upload: DirectUploadTable,
): Promise<boolean> {
  const now = unixNow(context)
  const isAbandoned = await context.database.commit((tx) => abandonDirectUpload(tx, upload, now))
  return isAbandoned && removeObject(context, provider, upload.object_id, null)
}
