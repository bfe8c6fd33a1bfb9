// Reads the files that a locker lists at one moment, page by page, while others may write. Threads load this file, and
// loading Kysely takes a thread as long as 100,000 files do: it is imported only where a thread connects to PostgreSQL.

import type { DatabaseSync } from 'node:sqlite'
import { readSnapshot } from '@svc/database/read-snapshot'
import { openSqliteReader } from '@svc/database/sqlite-file'
import type { Kysely as Connection } from 'kysely'
import type { Db, Schema } from '../../db/schema.ts'
import { findLockerHead, type ListedFileRow, selectListedFiles } from './store.ts'

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
  /** All entries of the manifest, in code-point order. */
  pages(): AsyncIterable<ListedFile[]>
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
      pages: () => sqlitePages(reader, lockerId),
      close: async () => reader.close(),
    }
  } catch (error) {
    reader.close()
    throw error
  }
}

async function* sqlitePages(reader: DatabaseSync, lockerId: string): AsyncGenerator<ListedFile[]> {
  const page = reader.prepare(
    `select filename, size_bytes, content_hash, content_type, object_id, provider_ref from files
     where locker_id = ? and filename > ? order by filename limit ${PAGE}`,
  )
  // Arrays take half the time of objects.
  page.setReturnArrays(true)
  for (let after = ''; ; ) {
    // Rows are arrays, although the type does not say so.
    const files = page.all(lockerId, after) as unknown as ListedFile[]
    yield files
    if (files.length < PAGE) return
    after = (files.at(-1) as ListedFile)[0]
  }
}

/** In a transaction on its own connection, which sees what was committed when it began. */
async function readFromPostgres(db: Db, lockerId: string): Promise<LockerReading> {
  const { db: tx, end } = await readSnapshot(db)
  try {
    const head = await findLockerHead(tx, lockerId)
    if (!head) throw new Error(`there is no locker ${lockerId}`)
    return {
      manifestVersion: head.manifest_version,
      borderKey: head.border_key,
      pages: () => postgresPages(selectListedFiles(tx, lockerId).stream(PAGE)),
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
