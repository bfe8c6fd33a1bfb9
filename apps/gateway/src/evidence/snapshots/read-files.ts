// Reads the files that a locker lists at one moment, while others may write. Threads load this file. Loading Kysely
// takes a thread as long as 100,000 files, so it is imported only where a thread connects to PostgreSQL.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { readSnapshot } from '@svc/database/read-snapshot'
import { openSqliteReader } from '@svc/database/sqlite-file'
import type { Kysely as Connection } from 'kysely'
import type { Db, Schema } from '../../db/schema.ts'
import { openPrevious, type PreviousSnapshot } from './previous-snapshot.ts'
import {
  findChunks,
  findLockerHead,
  findPreviousSnapshot,
  type ListedFiles,
  type NameRange,
  readListedFiles,
  type SnapshotRow,
} from './store.ts'

export interface LockerReading {
  manifestVersion: number
  borderKey: string
  /** The snapshot of the newest statement; null if there is none. */
  previous: PreviousSnapshot | null
  /** The manifest's entries in each range, in code-point order, at most `limit` per range. */
  read(ranges: readonly NameRange[], limit: number): Promise<ListedFiles[]>
  /** The content of stored chunks, by id. */
  storedChunks(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  close(): Promise<void>
}

/** Reads with the gateway's connections, or from its SQLite file. */
export async function readLockerFiles(db: Db, databaseUrl: string, lockerId: string): Promise<LockerReading> {
  const path = sqlitePathOf(databaseUrl)
  return path === null ? readFromPostgres(db, lockerId) : readFromSqlite(path, lockerId)
}

/** Reads with the thread's own connection. */
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
      read: sqliteFiles(reader, lockerId),
      storedChunks: sqliteChunks(reader),
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

function sqliteFiles(reader: DatabaseSync, lockerId: string): LockerReading['read'] {
  const prepare = (limit: number, hasEnd: boolean) => {
    const select = reader.prepare(
      `select count(*), max(filename), coalesce(group_concat(row_text), ''),
         json_group_array(content_type) filter (where row_text is not null),
         coalesce(group_concat(object_id) filter (where row_text is not null), ''),
         case when count(provider_ref) > 0 then json_group_array(provider_ref) filter (where row_text is not null) end,
         cast(coalesce(sum(size_bytes) filter (where row_text is not null), 0) as text)
       from (
         select filename, content_type, object_id, provider_ref, size_bytes,
           case when object_id is not null then
             '{"content_hash":"' || substr(content_hash, 8) || '","filename":' || json_quote(filename)
               || ',"size_bytes":' || size_bytes || '}'
           end as row_text
         from files
         where locker_id = ? and filename >= ? and filename <> ? ${hasEnd ? 'and filename < ?' : ''}
         order by filename limit ${limit}
       )`,
    )
    select.setReturnArrays(true)
    return select
  }
  const statements = new Map<string, StatementSync>()
  return async (ranges, limit) =>
    ranges.map(({ from, before, except = '' }) => {
      const hasEnd = before !== null
      const key = `${limit} ${hasEnd}`
      const select = statements.get(key) ?? prepare(limit, hasEnd)
      statements.set(key, select)
      const row = select.get(lockerId, from, except, ...(hasEnd ? [before] : [])) as unknown as SqliteFiles
      const [listed, last, text, contentTypes, ids, refs, totalBytes] = row
      const objects = { ids, refs: refs && JSON.parse(refs) }
      return { listed, last, text, contentTypes: JSON.parse(contentTypes), objects, totalBytes }
    })
}

/** An array, although the type of `get` does not declare it. */
type SqliteFiles = [
  listed: number,
  last: string | null,
  text: string,
  contentTypes: string,
  objectIds: string,
  providerRefs: string | null,
  totalBytes: string,
]

function sqliteChunks(reader: DatabaseSync): LockerReading['storedChunks'] {
  const select = reader.prepare('select content from snapshot_chunks where chunk_id = ?')
  return async (ids) => {
    const contents = new Map<string, string>()
    for (const id of ids) {
      const row = select.get(id) as { content: string } | undefined
      if (row) contents.set(id, row.content)
    }
    return contents
  }
}

/** In a transaction on its own connection, which sees the state at its start. */
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
      read: (ranges, limit) => readListedFiles(tx, lockerId, ranges, limit),
      storedChunks: async (ids) =>
        new Map((await findChunks(tx, ids)).map(({ chunk_id, content }) => [chunk_id, content])),
      close: end,
    }
  } catch (error) {
    await end()
    throw error
  }
}
