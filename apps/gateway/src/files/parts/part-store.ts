import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import type { Db, Schema, Tx, UploadPartTable } from '../../db/schema.ts'

export type PartRow = Selectable<UploadPartTable>

/** A part with the provider's name for its object. */
export interface Part extends PartRow {
  provider_ref: string | null
}

export function digestsOf(parts: readonly Pick<PartRow, 'sha256'>[]): string[] {
  return parts.map(({ sha256 }) => sha256)
}

/** Ordered by index. */
export function findParts(db: Db, sessionId: string, fileId: string): Promise<Part[]> {
  return partsOf(db, sessionId, fileId).execute()
}

/** The parts in a range of indexes, ordered. */
export function findPartsBetween(
  db: Db,
  { session_id, file_id }: Pick<PartRow, 'session_id' | 'file_id'>,
  first: number,
  last: number,
): Promise<Part[]> {
  return partsOf(db, session_id, file_id).where('p.part_index', '>=', first).where('p.part_index', '<=', last).execute()
}

function partsOf(db: Db, sessionId: string, fileId: string) {
  return db
    .selectFrom('upload_parts as p')
    .innerJoin('objects as o', 'o.object_id', 'p.object_id')
    .selectAll('p')
    .select('o.provider_ref')
    .where('p.session_id', '=', sessionId)
    .where('p.file_id', '=', fileId)
    .orderBy('p.part_index')
}

export async function findPart(
  db: Db,
  { session_id, file_id, part_index }: Pick<PartRow, 'session_id' | 'file_id' | 'part_index'>,
): Promise<PartRow | null> {
  const row = await db
    .selectFrom('upload_parts')
    .selectAll()
    .where('session_id', '=', session_id)
    .where('file_id', '=', file_id)
    .where('part_index', '=', part_index)
    .executeTakeFirst()
  return row ?? null
}

/** Replaces a part with the same index. */
export async function putPart(tx: Tx, part: PartRow): Promise<void> {
  const { session_id: _, file_id: __, part_index: ___, ...changes } = part
  await tx
    .insertInto('upload_parts')
    .values(part)
    .onConflict((conflict) => conflict.columns(['session_id', 'file_id', 'part_index']).doUpdateSet(changes))
    .execute()
}

type PartVersion = Pick<PartRow, 'session_id' | 'file_id' | 'part_index' | 'object_id' | 'sha256'>

/** The condition of a compare-and-set: matches nothing when the part was replaced. */
const isVersion = ({ session_id, file_id, part_index, object_id, sha256 }: PartVersion) => {
  const version = { session_id, file_id, part_index, object_id, sha256 }
  return (eb: ExpressionBuilder<Schema, 'upload_parts'>) => eb.and(version)
}

/** False when the part was replaced meanwhile. */
export async function deletePart(tx: Tx, part: PartRow): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('upload_parts').where(isVersion(part)).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

export async function deletePartsOf(
  tx: Tx,
  { session_id, file_id }: Pick<PartRow, 'session_id' | 'file_id'>,
  parts: readonly Pick<PartRow, 'part_index'>[],
): Promise<void> {
  if (parts.length === 0) return
  const indexes = parts.map(({ part_index }) => part_index)
  await tx
    .deleteFrom('upload_parts')
    .where('session_id', '=', session_id)
    .where('file_id', '=', file_id)
    .where('part_index', 'in', indexes)
    .execute()
}

/** False when the part was replaced meanwhile. */
export async function updatePart(
  tx: Tx,
  part: PartRow,
  changes: Partial<Pick<PartRow, 'object_id' | 'part_ref' | 'part_start'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('upload_parts')
    .set(changes)
    .where(isVersion(part))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * Deletes the parts of a file or of a whole session, and releases their objects, except the one that became the file.
 */
export async function releaseParts(
  tx: Tx,
  of: { session_id: string; file_id?: string },
  { since, except = '' }: { since: number; except?: string },
): Promise<void> {
  const isSelected = (eb: ExpressionBuilder<Schema, 'upload_parts'>) => eb.and(of)
  const isFileSelected = (eb: ExpressionBuilder<Schema, 'upload_session_files'>) => eb.and(of)
  const inPlace = tx.selectFrom('upload_session_files').select('object_id').where('object_id', 'is not', null)
  for (const held of [
    tx.selectFrom('upload_parts').select('object_id').where(isSelected),
    inPlace.where(isFileSelected),
  ]) {
    await tx
      .updateTable('objects')
      .set((eb) => ({
        state: 'released',
        since,
        size_bytes: eb
          .selectFrom('upload_parts as p')
          .select(({ fn }) => fn.sum<number>('p.size_bytes').as('bytes'))
          .whereRef('p.object_id', '=', 'objects.object_id'),
      }))
      .where('object_id', 'in', held)
      .where('object_id', '!=', except)
      .execute()
  }
  await tx.deleteFrom('upload_parts').where(isSelected).execute()
  await tx.updateTable('upload_session_files').set({ object_id: null }).where(isFileSelected).execute()
}

interface Gap {
  file_id: string
  /** The first missing index. */
  from: number
  /** The next existing index. */
  to: number
}

/** Missing indexes below the highest one ever received. */
export function findGaps(db: Db, sessionId: string, fileIds: readonly string[], limit: number): Promise<Gap[]> {
  const parts = db
    .selectFrom('upload_parts')
    .select(['file_id', 'part_index'])
    .where('session_id', '=', sessionId)
    .where('file_id', 'in', fileIds)
  const ends = db
    .selectFrom('upload_session_files')
    .select((eb) => ['file_id', eb('top_index', '+', 1).as('part_index')])
    .where('session_id', '=', sessionId)
    .where('file_id', 'in', fileIds)
  return db
    .selectFrom(
      db
        .selectFrom(parts.unionAll(ends).as('known'))
        .select([
          'file_id',
          'part_index as to',
          sql<number>`coalesce(lag(part_index) over (partition by file_id order by part_index), -1) + 1`.as('from'),
        ])
        .as('steps'),
    )
    .selectAll()
    .whereRef('from', '<', 'to')
    .orderBy('file_id')
    .orderBy('from')
    .limit(limit)
    .execute()
}
