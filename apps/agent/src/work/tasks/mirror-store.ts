import type { Selectable } from 'kysely'
import type { Db, MirrorTable, Tx } from '../../db/schema.ts'

export type MirrorRow = Selectable<MirrorTable>

/** By filename. */
export async function findMirrors(db: Db, delegationId: string): Promise<Map<string, MirrorRow>> {
  const rows = await db.selectFrom('mirrors').selectAll().where('delegation_id', '=', delegationId).execute()
  return new Map(rows.map((row) => [row.filename, row]))
}

export async function putMirror(tx: Tx, mirror: MirrorRow): Promise<void> {
  const { delegation_id: _, filename: __, ...changes } = mirror
  await tx
    .insertInto('mirrors')
    .values(mirror)
    .onConflict((conflict) => conflict.columns(['delegation_id', 'filename']).doUpdateSet(changes))
    .execute()
}

/** Deletes the sources that the run did not fetch, because the owner removed them. */
export async function deleteOtherMirrors(
  tx: Tx,
  { delegation_id, run_id }: { delegation_id: string; run_id: string },
): Promise<void> {
  await tx.deleteFrom('mirrors').where('delegation_id', '=', delegation_id).where('run_id', '!=', run_id).execute()
}
