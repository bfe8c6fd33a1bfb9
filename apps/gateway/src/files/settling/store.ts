import type { Transaction } from 'kysely'
import type { Db, ObjectTable, Schema, SettlingObjectTable } from '../../db/schema.ts'

type Tx = Transaction<Schema>

export async function insertSettling(tx: Tx, objects: readonly SettlingObjectTable[]): Promise<void> {
  await tx
    .insertInto('settling_objects')
    .values(objects)
    .onConflict((conflict) => conflict.column('object_id').doNothing())
    .execute()
}

/** Null when it has settled, or is not to any more. */
export async function seeSettling(db: Db, objectId: string, at: number): Promise<SettlingObjectTable | null> {
  const row = await db
    .updateTable('settling_objects')
    .set({ seen_at: at })
    .where('object_id', '=', objectId)
    .returningAll()
    .executeTakeFirst()
  return row ?? null
}

/**
 * False when other notes are there than those known, or none are wanted any more. Of several runs one can go on, and
 * nothing begins for an object that was called off.
 */
export async function replaceNotes(
  db: Db,
  objectId: string,
  known: string | null,
  notes: string,
  at: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('settling_objects')
    .set({ notes, seen_at: at })
    .where('object_id', '=', objectId)
    .where((eb) => (known === null ? eb('notes', 'is', null) : eb('notes', '=', known)))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Within the transaction that releases them. Those that have begun go on: they may be there already. */
export async function callOff(tx: Tx, objectIds: readonly string[]): Promise<void> {
  await tx.deleteFrom('settling_objects').where('object_id', 'in', objectIds).where('notes', 'is', null).execute()
}

export async function isSettling(db: Db, objectId: string): Promise<boolean> {
  const row = db.selectFrom('settling_objects').select('object_id').where('object_id', '=', objectId)
  return (await row.executeTakeFirst()) !== undefined
}

/** False when it is known already. The order is that of whoever releases objects: file, object, settling. */
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
  return numUpdatedRows > 0n
}

export async function findObject(db: Db, objectId: string): Promise<ObjectTable | null> {
  return (await db.selectFrom('objects').selectAll().where('object_id', '=', objectId).executeTakeFirst()) ?? null
}

const IDS_AT_ONCE = 1000

export async function findRefs(db: Db, objectIds: readonly string[]): Promise<Map<string, string>> {
  const refs = new Map<string, string>()
  for (let i = 0; i < objectIds.length; i += IDS_AT_ONCE) {
    const rows = await db
      .selectFrom('objects')
      .select(['object_id', 'provider_ref'])
      .where('object_id', 'in', objectIds.slice(i, i + IDS_AT_ONCE))
      .where('provider_ref', 'is not', null)
      .execute()
    for (const { object_id, provider_ref } of rows) refs.set(object_id, provider_ref as string) // not null, as asked for
  }
  return refs
}

/** The longest unseen first. */
export async function findUnseen(db: Db, before: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('settling_objects')
    .select('object_id')
    .where('seen_at', '<', before)
    .orderBy('seen_at')
    .limit(limit)
    .execute()
  return rows.map(({ object_id }) => object_id)
}

/** Of a locker's files: what was released and goes on is nobody's. */
export function sumSettling(db: Db, lockerId: string) {
  return db
    .selectFrom('settling_objects as s')
    .innerJoin('objects as o', 'o.object_id', 's.object_id')
    .select(({ fn }) => [
      fn.countAll<number>().as('files'),
      fn.sum<number | null>('s.size_bytes').as('bytes'),
      fn.min<number | null>('s.since').as('oldest'),
    ])
    .where('s.locker_id', '=', lockerId)
    .where('o.state', '=', 'held')
    .executeTakeFirstOrThrow()
}
