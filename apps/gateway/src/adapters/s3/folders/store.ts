import { inJsonRows, prepared } from '@svc/database/prepared'
import { sql } from 'kysely'
import type { Db, S3FolderTable, Tx } from '../../../db/schema.ts'
import { type NameRange, walkBy } from '../../../files/lists/walk-names.ts'

export async function findFolder(db: Db, lockerId: string, folder: string): Promise<S3FolderTable | null> {
  return (await findFolders(db, lockerId, [folder]))[0] ?? null
}

/** In no particular order. Missing folders are omitted. */
export async function findFolders(db: Db, lockerId: string, folders: readonly string[]): Promise<S3FolderTable[]> {
  if (folders.length === 0) return []
  return (await selectFolders(db, lockerId, JSON.stringify(folders.map((folder) => [folder])))).rows
}

const selectFolders = prepared((db: Db, lockerId: string, folders: string) =>
  ofLocker(db, lockerId).where(inJsonRows(db, 'folder', folders)),
)

/** In code-point order. */
export async function foldersIn(
  db: Db,
  lockerId: string,
  { from, upTo }: NameRange,
  limit: number,
): Promise<S3FolderTable[]> {
  return (await selectRange(db, lockerId, from, upTo, limit)).rows
}

const selectRange = prepared((db: Db, lockerId: string, from: string, upTo: string, limit: number) =>
  ofLocker(db, lockerId).where('folder', '>=', from).where('folder', '<=', upTo).orderBy('folder').limit(limit),
)

function ofLocker(db: Db, lockerId: string) {
  return db.selectFrom('s3_folders').selectAll().where('locker_id', '=', lockerId)
}

export const walkFolders = walkBy(
  (lockerId, from, upTo) => sql`
    select folder from s3_folders
    where locker_id = ${lockerId} and folder >= ${from} and folder <= ${upTo} order by folder limit 1`,
)

export async function countFolders(db: Db, lockerId: string): Promise<number> {
  const { rows } = await selectCount(db, lockerId)
  return Number(rows[0]?.count)
}

const selectCount = prepared((db: Db, lockerId: string) =>
  db
    .selectFrom('s3_folders')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('locker_id', '=', lockerId),
)

export async function upsertFolder(tx: Tx, row: S3FolderTable): Promise<void> {
  const { content_type, metadata, created_at } = row
  await tx
    .insertInto('s3_folders')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['locker_id', 'folder']).doUpdateSet({ content_type, metadata, created_at }),
    )
    .execute()
}

export async function deleteFolderRow(tx: Tx, lockerId: string, folder: string): Promise<void> {
  await tx.deleteFrom('s3_folders').where('locker_id', '=', lockerId).where('folder', '=', folder).execute()
}
