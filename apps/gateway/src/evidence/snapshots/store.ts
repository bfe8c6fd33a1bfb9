import { prepared } from '@svc/database/prepared'
import { type Selectable, sql } from 'kysely'
import type { Db, FileRow, SnapshotChunkTable, SnapshotTable, Tx } from '../../db/schema.ts'
import { MAX_ROWS } from './cut-chunks.ts'

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

/** The names from one on and before another. */
export interface NameRange {
  from: string
  /** Null for the end of the list. */
  before: string | null
}

/** In code-point order. */
export function selectListedFiles(db: Db, lockerId: string, { from, before }: NameRange) {
  return db
    .selectFrom('files')
    .select(['filename', 'size_bytes', 'content_hash', 'content_type', 'object_id', 'provider_ref'])
    .where('locker_id', '=', lockerId)
    .where('filename', '>=', from)
    .$if(before !== null, (query) => query.where('filename', '<', before))
    .orderBy('filename')
}

/** Of the locker's newest statement. */
export async function findPreviousSnapshot(db: Db, lockerId: string): Promise<SnapshotRow | null> {
  const row = await db
    .selectFrom('lockers as l')
    .innerJoin('attestations as a', 'a.receipt_id', 'l.receipt_id')
    .innerJoin('statements as s', (join) =>
      join.onRef('s.receipt_id', '=', 'a.receipt_id').onRef('s.sequence', '=', 'a.sequence'),
    )
    .innerJoin('snapshots as n', 'n.snapshot_key', 's.snapshot_key')
    .selectAll('n')
    .where('l.locker_id', '=', lockerId)
    .executeTakeFirst()
  return row ?? null
}

/** Where a stored chunk has its files. */
export interface ChunkRange extends NameRange {
  id: string
  before: string
}

/** The objects of some files. Text is read, and crosses threads, faster than a thousand pairs. */
export interface ObjectList {
  /** Hex ids, separated by commas. */
  ids: string
  /** Null if every ref is null. */
  refs: (string | null)[] | null
}

/** What the manifest holds now in the range of a stored chunk. */
export interface ChunkNow {
  totalBytes: string
  /** As `listRow` writes them, separated by commas; null where an entry is not confirmed, or only some have a ref. */
  rows: string | null
  contentTypes: string[]
  objects: ObjectList
  /** Null where the stored chunk is missing. */
  storedContent: string | null
}

/** For PostgreSQL; `read-files.ts` has the same for SQLite. */
export async function readChunksNow(db: Db, lockerId: string, chunks: readonly ChunkRange[]): Promise<ChunkNow[]> {
  const { rows } = await sql<Omit<ChunkNow, 'objects'> & ObjectList>`
    select
      case when n.entries = n.confirmed and n.ref_count in (0, n.entries) then n.rows end as rows,
      n."contentTypes", n.ids, n.refs, n."totalBytes", c.content as "storedContent"
    from unnest(
      ${chunks.map(({ id }) => id)}::text[],
      ${chunks.map(({ from }) => from)}::text[],
      ${chunks.map(({ before }) => before)}::text[]
    ) with ordinality as k (chunk_id, first_name, end_name, place)
    left join snapshot_chunks c on c.chunk_id = k.chunk_id
    cross join lateral (
      select count(*) as entries, count(row_text) as confirmed, string_agg(row_text, ',') as rows,
        coalesce(json_agg(content_type), '[]') as "contentTypes", string_agg(object_id, ',') as ids,
        count(provider_ref) as ref_count, json_agg(provider_ref) filter (where provider_ref is not null) as refs,
        cast(sum(size_bytes) as text) as "totalBytes"
      from (
        select content_type, object_id, provider_ref, size_bytes,
          case when object_id is not null and substr(content_hash, 1, 7) = 'sha256:' then
            '{"content_hash":' || to_json(substr(content_hash, 8))::text || ',"filename":' || to_json(filename)::text
              || ',"size_bytes":' || size_bytes || '}'
          end as row_text
        from files
        where locker_id = ${lockerId} and filename >= k.first_name collate "C" and filename < k.end_name collate "C"
        order by filename limit ${sql.lit(MAX_ROWS + 1)}
      ) f
    ) n
    order by k.place`.execute(db)
  return rows.map(({ ids, refs, ...now }) => ({ ...now, objects: { ids, refs } }))
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
