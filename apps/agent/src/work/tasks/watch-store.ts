// Queries for the files and statements that the watch has recorded.

import { type Selectable, sql } from 'kysely'
import type { Db, SeenFileTable, SeenStatementTable, Tx } from '../../db/schema.ts'

export type SeenFile = Selectable<SeenFileTable>
export type SeenStatement = Selectable<SeenStatementTable>

/** By filename. */
export async function findSeenFiles(
  db: Db,
  delegationId: string,
  filenames: readonly string[],
): Promise<Map<string, SeenFile>> {
  const rows = await seenFilesOf(db, delegationId).where('filename', 'in', filenames).execute()
  return new Map(rows.map((row) => [row.filename, row]))
}

function seenFilesOf(db: Db, delegationId: string) {
  return db.selectFrom('seen_files').selectAll().where('delegation_id', '=', delegationId)
}

export async function putSeenFiles(tx: Tx, files: readonly SeenFile[]): Promise<void> {
  await tx
    .insertInto('seen_files')
    .values(files)
    .onConflict((conflict) =>
      conflict.columns(['delegation_id', 'filename']).doUpdateSet(({ ref }) => ({
        sha256: ref('excluded.sha256'),
        size_bytes: ref('excluded.size_bytes'),
        run_id: ref('excluded.run_id'),
        read_at: ref('excluded.read_at'),
        trouble: ref('excluded.trouble'),
      })),
    )
    .execute()
}

/** Files that earlier runs found and this one did not. */
export async function findGoneFiles(
  db: Db,
  { delegation_id, run_id }: { delegation_id: string; run_id: string },
  limit: number,
): Promise<SeenFile[]> {
  return seenFilesOf(db, delegation_id).where('run_id', '!=', run_id).orderBy('filename').limit(limit).execute()
}

export async function deleteSeenFiles(tx: Tx, delegationId: string, filenames: readonly string[]): Promise<void> {
  await tx
    .deleteFrom('seen_files')
    .where('delegation_id', '=', delegationId)
    .where('filename', 'in', filenames)
    .execute()
}

/**
 * Files that were not read between `since` and `now`: never read first, then least recently read. A reading after `now`
 * was dated by a wrong clock.
 */
export async function findUnreadFiles(
  db: Db,
  delegationId: string,
  { since, now, maxBytes, limit }: { since: number; now: number; maxBytes: number; limit: number },
): Promise<SeenFile[]> {
  return unreadFiles(db, delegationId, { since, now }).where('size_bytes', '<=', maxBytes).limit(limit).execute()
}

/** Must match the expression of its index; otherwise every batch would sort all files. */
export function unreadFiles(db: Db, delegationId: string, { since, now }: { since: number; now: number }) {
  const readAt = sql<number>`coalesce(read_at, 0)`
  return seenFilesOf(db, delegationId)
    .where(({ or, eb }) => or([eb(readAt, '<', since), eb(readAt, '>', now)]))
    .orderBy(readAt)
    .orderBy('filename')
}

export async function findStatement(db: Db, delegationId: string, sequence: number): Promise<SeenStatement | null> {
  const row = await db
    .selectFrom('seen_statements')
    .selectAll()
    .where('delegation_id', '=', delegationId)
    .where('sequence', '=', sequence)
    .executeTakeFirst()
  return row ?? null
}

/** The statement with the highest sequence. */
export async function findLastStatement(db: Db, delegationId: string): Promise<SeenStatement | null> {
  const row = await db
    .selectFrom('seen_statements')
    .selectAll()
    .where('delegation_id', '=', delegationId)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ?? null
}

export async function putStatement(tx: Tx, statement: SeenStatement): Promise<void> {
  await tx
    .insertInto('seen_statements')
    .values(statement)
    .onConflict((conflict) => conflict.columns(['delegation_id', 'sequence']).doUpdateSet({ digest: statement.digest }))
    .execute()
}

/** Deletes mirrors, statements and up to `limit` files of a delegation; returns how many files. */
export async function deleteWatched(tx: Tx, delegationId: string, limit: number): Promise<number> {
  await tx.deleteFrom('mirrors').where('delegation_id', '=', delegationId).execute()
  await tx.deleteFrom('seen_statements').where('delegation_id', '=', delegationId).execute()
  const batch = seenFilesOf(tx, delegationId).clearSelect().select('filename').limit(limit)
  const deletion = tx.deleteFrom('seen_files').where('delegation_id', '=', delegationId).where('filename', 'in', batch)
  return Number((await deletion.executeTakeFirst()).numDeletedRows)
}
