// Objects that wait in the staging folder until a slow provider has them. The code calls this a delivery; `settle`
// means the settlement of an x402 payment. Stored and wire names keep the older word, because databases, queued jobs
// and clients depend on it: the table `settling_objects`, the jobs `settle-object` and `sweep-settling`, the metrics
// `svc_settling_*` and the field `settling` of a locker's record.

import type { Db, DeliveredContentTable, ObjectTable, SettlingObjectTable, Tx } from '../../db/schema.ts'

export async function insertDeliveries(tx: Tx, objects: readonly SettlingObjectTable[]): Promise<void> {
  await tx
    .insertInto('settling_objects')
    .values(objects)
    .onConflict((conflict) => conflict.column('object_id').doNothing())
    .execute()
}

/** Records that a run is working on the object, held back or not. Null when it was delivered or cancelled. */
export async function touchDelivery(tx: Tx, objectId: string, at: number): Promise<SettlingObjectTable | null> {
  const row = await tx
    .updateTable('settling_objects')
    .set({ seen_at: at, is_held_back: 0 })
    .where('object_id', '=', objectId)
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/**
 * Compare-and-set. False when another run has recorded its progress, or the object was cancelled: only one run
 * continues, and no delivery starts for an unneeded object.
 */
export async function replaceProgress(
  tx: Tx,
  objectId: string,
  known: string | null,
  progress: string,
  at: number,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('settling_objects')
    .set({ notes: progress, seen_at: at })
    .where('object_id', '=', objectId)
    .where((eb) => (known === null ? eb('notes', 'is', null) : eb('notes', '=', known)))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * Runs in the transaction that releases the objects. A delivery with recorded progress continues: the provider may have
 * the object already.
 */
export async function cancelDeliveries(tx: Tx, objectIds: readonly string[]): Promise<void> {
  await tx.deleteFrom('settling_objects').where('object_id', 'in', objectIds).where('notes', 'is', null).execute()
}

export async function isBeingDelivered(db: Db, objectId: string): Promise<boolean> {
  const row = db.selectFrom('settling_objects').select('object_id').where('object_id', '=', objectId)
  return (await row.executeTakeFirst()) !== undefined
}

/** False if it was recorded before. Locks rows in the same order as a release: file, object, delivery. */
export async function recordRef(tx: Tx, objectId: string, provider_ref: string): Promise<boolean> {
  await tx
    .updateTable('files')
    .set({ provider_ref })
    .where('object_id', '=', objectId)
    .where('provider_ref', 'is', null)
    .execute()
  const { numUpdatedRows } = await tx
    .updateTable('objects')
    .set({ provider_ref })
    .where('object_id', '=', objectId)
    .where('provider_ref', 'is', null)
    .executeTakeFirstOrThrow()
  await tx.deleteFrom('settling_objects').where('object_id', '=', objectId).execute()
  await tx
    .updateTable('delivered_contents')
    .set({ provider_ref })
    .where('object_id', '=', objectId)
    .where('provider_ref', 'is', null)
    .execute()
  return numUpdatedRows > 0n
}

type Content = Pick<SettlingObjectTable, 'locker_id' | 'sha256' | 'content_type'>

export async function findContent(db: Db, of: Content): Promise<DeliveredContentTable | null> {
  const { locker_id, sha256, content_type } = of
  const row = await db
    .selectFrom('delivered_contents')
    .selectAll()
    .where('locker_id', '=', locker_id)
    .where('sha256', '=', sha256)
    .where('content_type', '=', content_type)
    .executeTakeFirst()
  return row ?? null
}

/** False when the locker has already had the same bytes delivered. */
export async function insertContent(tx: Tx, row: Content & { object_id: string }): Promise<boolean> {
  const { locker_id, sha256, content_type, object_id } = row
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('delivered_contents')
    .values({ locker_id, sha256, content_type, object_id })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** False, with nothing added, when the limit would be exceeded. */
export async function addDeliveredBytes(tx: Tx, lockerId: string, bytes: number, limit: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('lockers')
    .set((eb) => ({ delivered_bytes: eb('delivered_bytes', '+', bytes) }))
    .where('locker_id', '=', lockerId)
    .where('delivered_bytes', '<=', limit - bytes)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Only a renewal changes what the terms allow, so the delivery waits for one. */
export async function holdBack(tx: Tx, objectId: string): Promise<void> {
  await tx.updateTable('settling_objects').set({ is_held_back: 1 }).where('object_id', '=', objectId).execute()
}

/**
 * Objects of the locker with the same bytes whose delivery has not begun. The sweep finds the ones beyond the limit.
 */
export async function findWaitingForContent(db: Db, of: Content): Promise<string[]> {
  const { locker_id, sha256, content_type } = of
  const rows = await db
    .selectFrom('settling_objects')
    .select('object_id')
    .where('locker_id', '=', locker_id)
    .where('sha256', '=', sha256)
    .where('content_type', '=', content_type)
    .where('notes', 'is', null)
    .limit(MAX_IDS)
    .execute()
  return rows.map(({ object_id }) => object_id)
}

export async function findObject(db: Db, objectId: string): Promise<ObjectTable | null> {
  return (await db.selectFrom('objects').selectAll().where('object_id', '=', objectId).executeTakeFirst()) ?? null
}

const MAX_IDS = 1000

export async function findRefs(db: Db, objectIds: readonly string[]): Promise<Map<string, string>> {
  const refs = new Map<string, string>()
  for (let i = 0; i < objectIds.length; i += MAX_IDS) {
    const rows = await db
      .selectFrom('objects')
      .select(['object_id', 'provider_ref'])
      .where('object_id', 'in', objectIds.slice(i, i + MAX_IDS))
      .where('provider_ref', 'is not', null)
      .execute()
    for (const { object_id, provider_ref } of rows) refs.set(object_id, provider_ref as string) // the query excludes null
  }
  return refs
}

export async function isRestricted(db: Db, lockerId: string): Promise<boolean> {
  const row = db.selectFrom('lockers').select('restriction').where('locker_id', '=', lockerId)
  return (await row.executeTakeFirstOrThrow()).restriction !== null
}

/** Objects that no run has touched since `before`, oldest first. Objects of restricted lockers are skipped. */
export async function findStale(db: Db, before: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('settling_objects as s')
    .innerJoin('lockers as l', 'l.locker_id', 's.locker_id')
    .select('s.object_id')
    .where('s.seen_at', '<', before)
    .where('s.is_held_back', '=', 0)
    .where('l.restriction', 'is', null)
    .orderBy('s.seen_at')
    .limit(limit)
    .execute()
  return rows.map(({ object_id }) => object_id)
}

/** Held-back objects whose locker was renewed at most `overlap` seconds before their last run, or later. */
export async function findRenewed(db: Db, overlap: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('settling_objects as s')
    .select('s.object_id')
    .where('s.is_held_back', '=', 1)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('renewals as r')
          .select('r.receipt_id')
          .whereRef('r.locker_id', '=', 's.locker_id')
          .where((eb) => eb('r.renewed_at', '>=', eb('s.seen_at', '-', overlap))),
      ),
    )
    .orderBy('s.seen_at')
    .limit(limit)
    .execute()
  return rows.map(({ object_id }) => object_id)
}

/** Counts objects of the locker's current files. A released object may still be in delivery; it is not counted. */
export function sumDeliveries(db: Db, lockerId: string, isHeldBack: boolean) {
  return db
    .selectFrom('settling_objects as s')
    .innerJoin('objects as o', 'o.object_id', 's.object_id')
    .select(({ fn }) => [
      fn.countAll<number>().as('files'),
      fn.sum<number | null>('s.size_bytes').as('bytes'),
      fn.min<number | null>('s.since').as('oldest'),
    ])
    .where('s.locker_id', '=', lockerId)
    .where('s.is_held_back', '=', Number(isHeldBack))
    .where('o.state', '=', 'held')
    .executeTakeFirstOrThrow()
}
