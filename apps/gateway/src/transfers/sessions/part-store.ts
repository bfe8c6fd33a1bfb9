import { type ExpressionBuilder, type Selectable, sql, type Transaction } from 'kysely'
import type { Db, Schema, UploadPartTable } from '../../db/schema.ts'

type Tx = Transaction<Schema>
type PartRow = Selectable<UploadPartTable>

/** A part with the provider's name for its object. */
export interface Part extends PartRow {
  provider_ref: string | null
}

/** Ordered by index. */
export function findParts(db: Db, sessionId: string, fileId: string): Promise<Part[]> {
  return db
    .selectFrom('upload_parts as p')
    .innerJoin('objects as o', 'o.object_id', 'p.object_id')
    .selectAll('p')
    .select('o.provider_ref')
    .where('p.session_id', '=', sessionId)
    .where('p.file_id', '=', fileId)
    .orderBy('p.part_index')
    .execute()
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
  const { object_id, size_bytes, sha256 } = part
  await tx
    .insertInto('upload_parts')
    .values(part)
    .onConflict((conflict) =>
      conflict.columns(['session_id', 'file_id', 'part_index']).doUpdateSet({ object_id, size_bytes, sha256 }),
    )
    .execute()
}

/** False when the part was replaced meanwhile. */
export async function deletePart(tx: Tx, { object_id }: PartRow): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('upload_parts')
    .where('object_id', '=', object_id)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Deletes the parts of a file or of a whole session, and releases their objects, except the one that became the file. */
export async function releaseParts(
  tx: Tx,
  of: { session_id: string; file_id?: string },
  { since, except = '' }: { since: number; except?: string },
): Promise<void> {
  const isSelected = (eb: ExpressionBuilder<Schema, 'upload_parts'>) => eb.and(of)
  await tx
    .updateTable('objects')
    .set({ state: 'released', since })
    .where('object_id', 'in', tx.selectFrom('upload_parts').select('object_id').where(isSelected))
    .where('object_id', '!=', except)
    .execute()
  await tx.deleteFrom('upload_parts').where(isSelected).execute()
}

interface Gap {
  file_id: string
  /** The first missing index. */
  from: number
  /** The next index that exists. */
  to: number
}

/** Missing indexes below the highest one that was ever received. */
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
