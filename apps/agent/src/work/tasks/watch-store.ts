// What was seen at lockers, and what was fetched into them.

import { type Selectable, sql } from 'kysely'
import type { Db, MirrorTable, SeenFileTable, SeenStatementTable } from '../../db/schema.ts'

export type SeenFile = Selectable<SeenFileTable>
export type SeenStatement = Selectable<SeenStatementTable>
export type MirrorRow = Selectable<MirrorTable>

/** By name. */
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

export async function putSeenFiles(db: Db, files: readonly SeenFile[]): Promise<void> {
  await db
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

/** Files that were seen before, and not by this run. */
export async function findUnseenFiles(
  db: Db,
  { delegation_id, run_id }: { delegation_id: string; run_id: string },
  limit: number,
): Promise<SeenFile[]> {
  return seenFilesOf(db, delegation_id).where('run_id', '!=', run_id).orderBy('filename').limit(limit).execute()
}

export async function forgetFiles(db: Db, delegationId: string, filenames: readonly string[]): Promise<void> {
  await db
    .deleteFrom('seen_files')
    .where('delegation_id', '=', delegationId)
    .where('filename', 'in', filenames)
    .execute()
}

/**
 * Those that were not read between `since` and `now`, the least recently read first and those never read before all
 * others. One that was read later than now was read by a clock that was wrong.
 */
export async function findUnreadFiles(
  db: Db,
  delegationId: string,
  { since, now, maxBytes, limit }: { since: number; now: number; maxBytes: number; limit: number },
): Promise<SeenFile[]> {
  return unreadFiles(db, delegationId, { since, now }).where('size_bytes', '<=', maxBytes).limit(limit).execute()
}

/** In the words of its index, or each hundred files would be a search through a million. */
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

/** The one with the highest sequence. */
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

export async function putStatement(db: Db, statement: SeenStatement): Promise<void> {
  await db
    .insertInto('seen_statements')
    .values(statement)
    .onConflict((conflict) => conflict.columns(['delegation_id', 'sequence']).doUpdateSet({ digest: statement.digest }))
    .execute()
}

/** By name. */
export async function findMirrors(db: Db, delegationId: string): Promise<Map<string, MirrorRow>> {
  const rows = await db.selectFrom('mirrors').selectAll().where('delegation_id', '=', delegationId).execute()
  return new Map(rows.map((row) => [row.filename, row]))
}

export async function putMirror(db: Db, mirror: MirrorRow): Promise<void> {
  const { delegation_id: _, filename: __, ...changes } = mirror
  await db
    .insertInto('mirrors')
    .values(mirror)
    .onConflict((conflict) => conflict.columns(['delegation_id', 'filename']).doUpdateSet(changes))
    .execute()
}

/** Of a mirror, those addresses that the run did not ask for. */
export async function forgetMirrors(
  db: Db,
  { delegation_id, run_id }: { delegation_id: string; run_id: string },
): Promise<void> {
  await db.deleteFrom('mirrors').where('delegation_id', '=', delegation_id).where('run_id', '!=', run_id).execute()
}

/** All that was seen for a delegation: of files up to so many; how many they were. */
export async function forgetSeen(db: Db, delegationId: string, limit: number): Promise<number> {
  await db.deleteFrom('mirrors').where('delegation_id', '=', delegationId).execute()
  await db.deleteFrom('seen_statements').where('delegation_id', '=', delegationId).execute()
  const some = seenFilesOf(db, delegationId).clearSelect().select('filename').limit(limit)
  const forgotten = db.deleteFrom('seen_files').where('delegation_id', '=', delegationId).where('filename', 'in', some)
  return Number((await forgotten.executeTakeFirst()).numDeletedRows)
}
