import { prepared } from '@svc/database/prepared'
import { type Selectable, sql } from 'kysely'
import type { Db, SnapshotChunkTable, SnapshotTable, Tx } from '../../db/schema.ts'
import type { FileRows } from './chunk-content.ts'

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

/** The secret that determines where chunks are cut. */
export async function readBorderKey(db: Db): Promise<string> {
  return (await db.selectFrom('snapshot_border_key').select('border_key').executeTakeFirstOrThrow()).border_key
}

/** The names from one name up to, but not including, another. */
export interface NameRange {
  from: string
  /** Null for the end of the list. */
  before: string | null
  /** A name to leave out. */
  except?: string
}

/** The objects of some files. Text is read, and crosses threads, faster than a thousand pairs. */
export interface ObjectList {
  /** Hex ids, separated by commas. */
  ids: string
  /** Null if every ref is null. */
  refs: (string | null)[] | null
}

/** The confirmed entries of the manifest in a range, as text that the database writes (MERK-21). */
export interface ListedFiles extends FileRows {
  /** How many entries there are, confirmed or not. */
  listed: number
  /** The name of the last entry. */
  last: string | null
  totalBytes: string
  objects: ObjectList
}

/** The snapshot of the locker's newest statement. */
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

/**
 * At most `limit` entries of each range. Content hashes are hex without their prefix. For PostgreSQL; `read-files.ts`
 * has the same query for SQLite.
 */
export async function readListedFiles(
  db: Db,
  lockerId: string,
  ranges: readonly NameRange[],
  limit: number,
): Promise<ListedFiles[]> {
  // Without an end, the index would be read to the end of the locker, so only the last range may be open.
  const isOpen = ranges.some(({ before }) => before === null)
  const { rows } = await sql<Omit<ListedFiles, 'objects'> & ObjectList>`
    select n.*
    from unnest(
      ${ranges.map(({ from }) => from)}::text[],
      ${ranges.map(({ before }) => before)}::text[],
      ${ranges.map(({ except }) => except ?? '')}::text[]
    ) with ordinality as r (first_name, end_name, except_name, place)
    cross join lateral (
      select count(*)::int as listed, max(filename) as last,
        coalesce(string_agg(row_text, ','), '') as text,
        coalesce(json_agg(content_type) filter (where row_text is not null), '[]') as "contentTypes",
        coalesce(string_agg(object_id, ',') filter (where row_text is not null), '') as ids,
        case when count(provider_ref) > 0 then json_agg(provider_ref) filter (where row_text is not null) end as refs,
        cast(coalesce(sum(size_bytes) filter (where row_text is not null), 0) as text) as "totalBytes"
      from (
        select filename, content_type, object_id, provider_ref, size_bytes,
          case when object_id is not null then
            '{"content_hash":"' || substr(content_hash, 8) || '","filename":' || to_json(filename)::text
              || ',"size_bytes":' || size_bytes || '}'
          end as row_text
        from files
        where locker_id = ${lockerId} and filename >= r.first_name collate "C" and filename <> r.except_name
          ${isOpen ? sql`` : sql`and filename < r.end_name collate "C"`}
        order by filename limit ${sql.lit(limit)}
      ) f
    ) n
    order by r.place`.execute(db)
  return rows.map(({ ids, refs, ...files }) => ({ ...files, objects: { ids, refs } }))
}

/** Most chunks already exist, from the previous snapshot. */
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

/** The given ids that are stored. */
export async function storedChunks(db: Db, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  return new Set(
    idsOf(await db.selectFrom('snapshot_chunks').select('chunk_id').where('chunk_id', 'in', ids).execute()),
  )
}

/** Call it in the transaction that writes the statement about the snapshot. */
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

/** In no particular order. */
export async function findChunks(db: Db, ids: readonly string[]): Promise<ChunkRow[]> {
  if (ids.length === 0) return []
  return db.selectFrom('snapshot_chunks').selectAll().where('chunk_id', 'in', ids).execute()
}

function idsOf(chunks: readonly Pick<ChunkRow, 'chunk_id'>[]): string[] {
  return chunks.map(({ chunk_id }) => chunk_id)
}
