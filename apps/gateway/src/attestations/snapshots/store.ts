import { prepared } from '@svc/database/prepared'
import type { Selectable } from 'kysely'
import type { Db, FileRow, SnapshotChunkTable, SnapshotTable, Tx } from '../../db/schema.ts'

export type SnapshotRow = Selectable<SnapshotTable>
export type ChunkRow = Selectable<SnapshotChunkTable>

export async function countListedFiles(db: Db, lockerId: string): Promise<number> {
  const { file_count } = await db
    .selectFrom('lockers')
    .select('file_count')
    .where('locker_id', '=', lockerId)
    .executeTakeFirstOrThrow()
  return file_count
}

export async function findLockerHead(db: Db, lockerId: string) {
  return db
    .selectFrom(['lockers', 'snapshot_border_key'])
    .select(['manifest_version', 'border_key'])
    .where('locker_id', '=', lockerId)
    .executeTakeFirst()
}

/** The secret that decides where chunks are cut. */
export async function readBorderKey(db: Db): Promise<string> {
  return (await db.selectFrom('snapshot_border_key').select('border_key').executeTakeFirstOrThrow()).border_key
}

export type ListedFileRow = Pick<
  FileRow,
  'filename' | 'size_bytes' | 'content_hash' | 'content_type' | 'object_id' | 'provider_ref'
>

/** In code-point order. */
export function selectListedFiles(db: Db, lockerId: string) {
  return db
    .selectFrom('files')
    .select(['filename', 'size_bytes', 'content_hash', 'content_type', 'object_id', 'provider_ref'])
    .where('locker_id', '=', lockerId)
    .orderBy('filename')
}

/** Most chunks exist already, from the previous snapshot. */
export async function storeChunks(tx: Tx, chunks: readonly ChunkRow[]): Promise<void> {
  const isStored = await storedChunks(tx, idsOf(chunks))
  const missing = chunks.filter(({ chunk_id }) => !isStored.has(chunk_id))
  if (missing.length === 0) return
  await tx
    .insertInto('snapshot_chunks')
    .values(missing)
    .onConflict((conflict) => conflict.column('chunk_id').doNothing())
    .execute()
}

/** Those of the ids that are there. */
export async function storedChunks(db: Db, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  return new Set(
    idsOf(await db.selectFrom('snapshot_chunks').select('chunk_id').where('chunk_id', 'in', ids).execute()),
  )
}

/** In the transaction that writes the statement about it. */
export async function insertSnapshot(tx: Tx, row: SnapshotRow): Promise<void> {
  await tx
    .insertInto('snapshots')
    .values(row)
    .onConflict((conflict) => conflict.column('snapshot_key').doNothing())
    .execute()
}

export async function findSnapshot(db: Db, key: string): Promise<SnapshotRow | null> {
  return (await db.selectFrom('snapshots').selectAll().where('snapshot_key', '=', key).executeTakeFirst()) ?? null
}

const selectChunk = prepared((db: Db, id: string) =>
  db.selectFrom('snapshot_chunks').select('content').where('chunk_id', '=', id),
)

export async function findChunk(db: Db, id: string): Promise<string | null> {
  return (await selectChunk(db, id)).rows[0]?.content ?? null
}

/** In no order. */
export function findChunks(db: Db, ids: readonly string[]): Promise<ChunkRow[]> {
  return db.selectFrom('snapshot_chunks').selectAll().where('chunk_id', 'in', ids).execute()
}

function idsOf(chunks: readonly Pick<ChunkRow, 'chunk_id'>[]): string[] {
  return chunks.map(({ chunk_id }) => chunk_id)
}
