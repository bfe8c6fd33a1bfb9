// Reads the files that a locker lists at one moment, page by page, while others may write. Threads load this file, and
// loading Kysely takes a thread as long as 100,000 files do: it is imported only where a thread connects to PostgreSQL.

import type { DatabaseSync } from 'node:sqlite'
import { readSnapshot } from '@svc/database/read-snapshot'
import { openSqliteReader } from '@svc/database/sqlite-file'
import type { Kysely as Connection } from 'kysely'
import type { Db, Schema } from '../../db/schema.ts'
import { MAX_ROWS } from './cut-chunks.ts'
import { openPrevious, type PreviousSnapshot } from './previous-snapshot.ts'
import {
  type ChunkNow,
  type ChunkRange,
  findLockerHead,
  findPreviousSnapshot,
  type ListedFileRow,
  type NameRange,
  readChunksNow,
  type SnapshotRow,
  selectListedFiles,
} from './store.ts'

/** An entry of a locker's manifest: what is attested of it, and the object that holds its bytes. */
export type ListedFile = [
  filename: string,
  sizeBytes: number | null,
  contentHash: string | null,
  contentType: string,
  objectId: string | null,
  providerRef: string | null,
]

export interface LockerReading {
  manifestVersion: number
  borderKey: string
  /** Of the newest statement; null if there is none. */
  previous: PreviousSnapshot | null
  /** The entries of the manifest with names in the range, in code-point order. */
  pages(range: NameRange): AsyncIterable<ListedFile[]>
  /** What the manifest holds in the place of each of the chunks. */
  now(chunks: readonly ChunkRange[]): Promise<ChunkNow[]>
  close(): Promise<void>
}

/** Larger pages are not read faster, and outlive the cheap part of garbage collection. */
const PAGE = 1000

/** Reads with the gateway's connections, or from its SQLite file. */
export async function readLockerFiles(db: Db, databaseUrl: string, lockerId: string): Promise<LockerReading> {
  const path = sqlitePathOf(databaseUrl)
  return path === null ? readFromPostgres(db, lockerId) : readFromSqlite(path, lockerId)
}

/** Reads with a connection of the thread's own. */
export async function readLockerFilesInThread(databaseUrl: string, lockerId: string): Promise<LockerReading> {
  const path = sqlitePathOf(databaseUrl)
  if (path !== null) return readFromSqlite(path, lockerId)
  const db = await connectToPostgres(databaseUrl)
  const reading = await readFromPostgres(db, lockerId)
  async function close() {
    await reading.close()
    await db.destroy()
  }
  return { ...reading, close }
}

/** Null for PostgreSQL. */
export function sqlitePathOf(databaseUrl: string): string | null {
  return databaseUrl.startsWith('sqlite:') ? databaseUrl.slice('sqlite:'.length) : null
}

/** The gateway has already migrated the database. */
export async function connectToPostgres(databaseUrl: string): Promise<Connection<Schema>> {
  const [{ Kysely }, { createPostgresDialect }] = await Promise.all([
    import('kysely'),
    import('@svc/database/postgres'),
  ])
  return new Kysely({ dialect: createPostgresDialect(databaseUrl) })
}

function readFromSqlite(path: string, lockerId: string): LockerReading {
  const reader = openSqliteReader(path)
  try {
    reader.exec('begin')
    const head = reader
      .prepare('select manifest_version, border_key from lockers, snapshot_border_key where locker_id = ?')
      .get(lockerId) as { manifest_version: number; border_key: string } | undefined
    if (!head) throw new Error(`there is no locker ${lockerId}`)
    return {
      manifestVersion: head.manifest_version,
      borderKey: head.border_key,
      previous: sqlitePrevious(reader, lockerId),
      pages: (range) => sqlitePages(reader, lockerId, range),
      now: sqliteChunks(reader, lockerId),
      close: async () => reader.close(),
    }
  } catch (error) {
    reader.close()
    throw error
  }
}

function sqlitePrevious(reader: DatabaseSync, lockerId: string): PreviousSnapshot | null {
  const row = reader
    .prepare(
      `select n.* from lockers l
       join attestations a on a.receipt_id = l.receipt_id
       join statements s on s.receipt_id = a.receipt_id and s.sequence = a.sequence
       join snapshots n on n.snapshot_key = s.snapshot_key
       where l.locker_id = ?`,
    )
    .get(lockerId) as SnapshotRow | undefined
  return row ? openPrevious(row) : null
}

async function* sqlitePages(
  reader: DatabaseSync,
  lockerId: string,
  { from, before }: NameRange,
): AsyncGenerator<ListedFile[]> {
  const page = reader.prepare(
    `select filename, size_bytes, content_hash, content_type, object_id, provider_ref from files
     where locker_id = ? and filename >= ? ${before === null ? '' : 'and filename < ?'}
     order by filename limit ${PAGE + 1}`,
  )
  // Arrays take half the time of objects.
  page.setReturnArrays(true)
  for (let first = from; ; ) {
    // Rows are arrays, although the type does not say so.
    const files = page.all(lockerId, first, ...(before === null ? [] : [before])) as unknown as ListedFile[]
    const next = files[PAGE]
    yield files.slice(0, PAGE)
    if (!next) return
    first = next[0]
  }
}

function sqliteChunks(reader: DatabaseSync, lockerId: string): LockerReading['now'] {
  // An entry that is not confirmed, or whose hash is not of the usual form, has no row.
  const select = reader.prepare(
    `select
       case when count(*) = count(row_text) and count(provider_ref) in (0, count(*)) then group_concat(row_text) end,
       json_group_array(content_type), group_concat(object_id),
       json_group_array(provider_ref) filter (where provider_ref is not null),
       cast(sum(size_bytes) as text), (select content from snapshot_chunks where chunk_id = ?)
     from (
       select content_type, object_id, provider_ref, size_bytes,
         case when object_id is not null and substr(content_hash, 1, 7) = 'sha256:' then
           '{"content_hash":' || json_quote(substr(content_hash, 8)) || ',"filename":' || json_quote(filename)
             || ',"size_bytes":' || size_bytes || '}'
         end as row_text
       from files where locker_id = ? and filename >= ? and filename < ? order by filename limit ${MAX_ROWS + 1}
     )`,
  )
  select.setReturnArrays(true)
  return async (chunks) =>
    chunks.map(({ id, from, before }) => {
      const row = select.get(id, lockerId, from, before) as unknown as SqliteChunk
      const [rows, contentTypes, ids, refs, totalBytes, storedContent] = row
      const objects = { ids, refs: refs === '[]' ? null : JSON.parse(refs) }
      return { rows, contentTypes: JSON.parse(contentTypes), objects, totalBytes, storedContent }
    })
}

type SqliteChunk = [
  rows: string | null,
  contentTypes: string,
  objectIds: string,
  providerRefs: string,
  totalBytes: string,
  storedContent: string | null,
]

/** In a transaction on its own connection, which sees what was committed when it began. */
async function readFromPostgres(db: Db, lockerId: string): Promise<LockerReading> {
  const { db: tx, end } = await readSnapshot(db)
  try {
    const head = await findLockerHead(tx, lockerId)
    if (!head) throw new Error(`there is no locker ${lockerId}`)
    const previous = await findPreviousSnapshot(tx, lockerId)
    return {
      manifestVersion: head.manifest_version,
      borderKey: head.border_key,
      previous: previous && openPrevious(previous),
      pages: (range) => postgresPages(selectListedFiles(tx, lockerId, range).stream(PAGE)),
      now: (chunks) => readChunksNow(tx, lockerId, chunks),
      close: end,
    }
  } catch (error) {
    await end()
    throw error
  }
}

async function* postgresPages(files: AsyncIterable<ListedFileRow>): AsyncGenerator<ListedFile[]> {
  let page: ListedFile[] = []
  for await (const { filename, size_bytes, content_hash, content_type, object_id, provider_ref } of files) {
    page.push([filename, size_bytes, content_hash, content_type, object_id, provider_ref])
    if (page.length < PAGE) continue
    yield page
    page = []
  }
  yield page
}
