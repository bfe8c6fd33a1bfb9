import type { ExpressionBuilder, Selectable, Transaction } from 'kysely'
import type { Db, Schema, UploadPartTable } from '../../db/schema.ts'

type Tx = Transaction<Schema>
type PartRow = Selectable<UploadPartTable>

/** With what its provider calls it. */
export interface Part extends PartRow {
  provider_ref: string | null
}

/** In order. */
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

/** In place of the one with the same index, if there is one. */
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

/** False when it was replaced meanwhile. */
export async function deletePart(tx: Tx, { object_id }: PartRow): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('upload_parts')
    .where('object_id', '=', object_id)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Forgets the parts of a file, or of a whole session, and releases their objects but the one that became the file. */
export async function releaseParts(
  tx: Tx,
  of: { session_id: string; file_id?: string },
  { since, except = '' }: { since: number; except?: string },
): Promise<void> {
  const isOfThem = (eb: ExpressionBuilder<Schema, 'upload_parts'>) => eb.and(of)
  await tx
    .updateTable('objects')
    .set({ state: 'released', since })
    .where('object_id', 'in', tx.selectFrom('upload_parts').select('object_id').where(isOfThem))
    .where('object_id', '!=', except)
    .execute()
  await tx.deleteFrom('upload_parts').where(isOfThem).execute()
}
