// Objects at providers, their holders, and direct uploads by clients.

import { preparedRow } from '@svc/database/prepared'
import type { Selectable } from 'kysely'
import type { Db, DirectUploadTable, FileRow, ObjectTable, Tx } from '../db/schema.ts'
import { cancelDeliveries } from './delivery/store.ts'
import { lockFile, updateFile } from './store.ts'

export type ObjectRow = Pick<Selectable<ObjectTable>, 'object_id' | 'provider' | 'state' | 'since' | 'locker_id'>

/** Runs before the object's first byte, so that no object is ever unknown. */
export async function insertObject(tx: Tx, object: ObjectRow): Promise<void> {
  await addObject(tx, object)
}

const addObject = preparedRow(['object_id', 'provider', 'state', 'since', 'locker_id'], (tx: Tx, object) =>
  tx.insertInto('objects').values({ ...object, provider_ref: null }),
)

interface WrittenObject {
  id: string
  ref: string | null
  size: number
}

/** False when the sweep has removed the object because writing it took too long. */
export async function holdObject(
  tx: Tx,
  { id, ref, size }: WrittenObject,
  locker_id: string,
  since: number,
): Promise<boolean> {
  const { numAffectedRows } = await hold(tx, { object_id: id, provider_ref: ref, since, locker_id, size_bytes: size })
  return (numAffectedRows ?? 0n) > 0n
}

const hold = preparedRow(
  ['object_id', 'provider_ref', 'since', 'locker_id', 'size_bytes'],
  (tx: Tx, { object_id, ...held }) =>
    tx
      .updateTable('objects')
      .set({ state: 'held', ...held })
      .where('object_id', '=', object_id)
      .where('state', '=', 'writing'),
)

export async function releaseObjects(tx: Tx, objectIds: readonly string[], since: number): Promise<void> {
  if (objectIds.length === 0) return
  await tx.updateTable('objects').set({ state: 'released', since }).where('object_id', 'in', objectIds).execute()
  await cancelDeliveries(tx, objectIds)
}

/** For an object that an upload session held before its size was known. */
export async function recordSize(tx: Tx, { id, size }: WrittenObject, locker_id: string): Promise<void> {
  await tx.updateTable('objects').set({ locker_id, size_bytes: size }).where('object_id', '=', id).execute()
}

export async function deleteObjectRow(tx: Tx, objectId: string): Promise<void> {
  await tx.deleteFrom('objects').where('object_id', '=', objectId).execute()
}

/** Resets a removed object that may be written again to the state of a new upload. */
export async function resetObject(tx: Tx, objectId: string, since: number): Promise<void> {
  await tx
    .updateTable('objects')
    .set({ state: 'writing', provider_ref: null, since })
    .where('object_id', '=', objectId)
    .execute()
}

/** Newest first; of one key only, if `mintedBy` is given. */
export function findLockerUploads(
  db: Db,
  lockerId: string,
  mintedBy: string | null,
  limit: number,
): Promise<DirectUploadTable[]> {
  return db
    .selectFrom('direct_uploads')
    .selectAll()
    .where('locker_id', '=', lockerId)
    .$if(mintedBy !== null, (query) => query.where('minted_by', '=', mintedBy))
    .orderBy('position', 'desc')
    .limit(limit)
    .execute()
}

/** Newest first. */
export function findDirectUploads(
  db: Db,
  lockerId: string,
  filename: string,
  limit: number,
): Promise<DirectUploadTable[]> {
  return db
    .selectFrom('direct_uploads')
    .selectAll()
    .where('locker_id', '=', lockerId)
    .where('filename', '=', filename)
    .orderBy('position', 'desc')
    .limit(limit)
    .execute()
}

async function newestDirectUpload(db: Db, lockerId: string, filename: string): Promise<DirectUploadTable | null> {
  return (await findDirectUploads(db, lockerId, filename, 1))[0] ?? null
}

export async function findDirectUpload(db: Db, objectId: string): Promise<DirectUploadTable | null> {
  const row = db.selectFrom('direct_uploads').selectAll().where('object_id', '=', objectId)
  return (await row.executeTakeFirst()) ?? null
}

/** Whether the upload still belongs to this file; a rename moves it. The caller holds the lock of the file. */
export async function isPending(tx: Tx, { filename }: FileRow, objectId: string): Promise<boolean> {
  return (await findDirectUpload(tx, objectId))?.filename === filename
}

/** The caller holds the lock of the file. */
export async function insertDirectUpload(tx: Tx, upload: Omit<DirectUploadTable, 'position'>): Promise<void> {
  const { locker_id, filename, object_id } = upload
  const newest = await newestDirectUpload(tx, locker_id, filename)
  await tx
    .insertInto('direct_uploads')
    .values({ ...upload, position: (newest?.position ?? 0) + 1 })
    .execute()
  await updateFile(tx, locker_id, filename, { upload_object_id: object_id })
}

/**
 * Ends pending uploads of a file that gets other bytes: all of them, or, if it adopts an upload, those begun before it.
 * Returns the newest of the remaining ones. The ended objects are left to the sweep.
 */
export async function endDirectUploads(tx: Tx, file: FileRow, adopted?: DirectUploadTable): Promise<string | null> {
  const { locker_id, filename } = file
  await tx
    .deleteFrom('direct_uploads')
    .where('locker_id', '=', locker_id)
    .where('filename', '=', filename)
    .$if(adopted !== undefined, (query) => query.where('position', '<=', adopted!.position))
    .execute()
  if (!adopted) return null
  return (await newestDirectUpload(tx, locker_id, filename))?.object_id ?? null
}

/** Includes the times when they began. */
export function findUploadsToCheck(db: Db, now: number, limit: number) {
  return db
    .selectFrom('direct_uploads as d')
    .innerJoin('objects as o', 'o.object_id', 'd.object_id')
    .selectAll('d')
    .select('o.since')
    .where('d.look_at', '<=', now)
    .orderBy('d.look_at')
    .limit(limit)
    .execute()
}

export async function checkLater(tx: Tx, objectId: string, checkAt: number): Promise<void> {
  await tx.updateTable('direct_uploads').set({ look_at: checkAt }).where('object_id', '=', objectId).execute()
}

/**
 * Releases the object of a direct upload. False when the file has adopted it or was renamed: the sweep checks it again.
 */
export async function abandonDirectUpload(tx: Tx, upload: DirectUploadTable, since: number): Promise<boolean> {
  const { object_id, locker_id, filename } = upload
  // Adopting takes the same lock first.
  await lockFile(tx, locker_id, filename)
  const current = await findDirectUpload(tx, object_id)
  if (current && current.filename !== filename) return false
  await tx.deleteFrom('direct_uploads').where('object_id', '=', object_id).execute()
  const newest = await newestDirectUpload(tx, locker_id, filename)
  await updateFile(tx, locker_id, filename, { upload_object_id: newest?.object_id ?? null })
  const { numUpdatedRows } = await tx
    .updateTable('objects')
    .set({ state: 'released', since })
    .where('object_id', '=', object_id)
    .where('state', '=', 'writing')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** The oldest objects that were released or left unfinished before these times and are not being delivered. */
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

/** Moves an object to the end of the sweep's queue. */
export async function postponeRemoval(tx: Tx, { object_id, state, since }: ObjectTable, now: number): Promise<void> {
  await tx
    .updateTable('objects')
    .set({ since: now })
    .where('object_id', '=', object_id)
    .where('state', '=', state)
    .where('since', '=', since)
    .execute()
}

/**
 * Claims an unheld object, so that no transaction can hold it any more. Its time becomes the current time: an object
 * that cannot be removed moves to the end of the sweep's queue. False when the object is held after all.
 */
export async function markForRemoval(tx: Tx, { object_id, state, since }: ObjectTable, now: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('objects')
    .set({ state: 'released', since: now })
    .where('object_id', '=', object_id)
    .where('state', '=', state)
    .where('since', '=', since)
    // The state implies this already. Removal cannot be undone, so it is checked twice.
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
