import type { Selectable } from 'kysely'
import type { Db, TusUploadTable, Tx } from '../../db/schema.ts'
import type { SessionFile, SessionRow } from '../../files/parts/store.ts'

export type TusRow = Selectable<TusUploadTable>

/** False, with nothing changed, when the upload already exists. */
export async function insertUpload(tx: Tx, session: SessionRow, file: SessionFile, upload: TusRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('upload_sessions')
    .values(session)
    .onConflict((conflict) => conflict.column('session_id').doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 0n) return false
  await tx.insertInto('upload_session_files').values(file).execute()
  await tx.insertInto('tus_uploads').values(upload).execute()
  return true
}

export async function findTusRow(db: Db, sessionId: string): Promise<TusRow | null> {
  const row = db.selectFrom('tus_uploads').selectAll().where('session_id', '=', sessionId)
  return (await row.executeTakeFirst()) ?? null
}

/** Appends the parts of one upload to another; their objects stay where they are. */
export async function moveParts(tx: Tx, from: SessionFile, to: SessionFile, firstIndex: number): Promise<void> {
  await tx
    .updateTable('upload_parts')
    .set((eb) => ({
      session_id: to.session_id,
      file_id: to.file_id,
      part_index: eb('part_index', '+', firstIndex),
    }))
    .where('session_id', '=', from.session_id)
    .execute()
}

/** Closes an upload whose bytes were moved to another. */
export async function closeJoined(tx: Tx, sessionId: string, at: number): Promise<void> {
  await tx
    .updateTable('upload_sessions')
    .set({ status: 'complete', closed_at: at })
    .where('session_id', '=', sessionId)
    .execute()
  await tx.updateTable('upload_session_files').set({ state: 'stored' }).where('session_id', '=', sessionId).execute()
}
