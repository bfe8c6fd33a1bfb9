// SQLite as threads use it. Not through Kysely, whose loading alone takes a thread as long as 100,000 files do; and with
// rows as arrays, which take half the time of objects.

import { open } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { openSqliteFile, openSqliteReader } from '@svc/database/sqlite-file'
import { type ListedFile, type LockerReading, PAGE } from './read-locker.ts'
import type { ChunkRow } from './tables.ts'

export function readFromSqlite(path: string, lockerId: string): LockerReading {
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
      pages: () => readPages(reader, lockerId),
      close: async () => reader.close(),
    }
  } catch (error) {
    reader.close()
    throw error
  }
}

async function* readPages(reader: DatabaseSync, lockerId: string): AsyncGenerator<ListedFile[]> {
  const page = reader.prepare(
    `select filename, size_bytes, content_hash, content_type, object_id, provider_ref from files
     where locker_id = ? and filename > ? order by filename limit ${PAGE}`,
  )
  page.setReturnArrays(true)
  for (let after = ''; ; ) {
    // Rows are arrays, although the type does not say so.
    const files = page.all(lockerId, after) as unknown as ListedFile[]
    yield files
    if (files.length < PAGE) return
    after = (files.at(-1) as ListedFile)[0]
  }
}

export interface ChunkStore {
  store(chunks: readonly ChunkRow[]): Promise<void>
  /** What is stored is durable then. */
  flush(): Promise<void>
  close(): Promise<void>
}

const FLUSHED_AT_ONCE = 16_000_000

/**
 * The log is not flushed at every commit, so that the commits of the gateway wait as little as can be: chunks count for
 * nothing until a statement names them, and none does before they are flushed.
 */
export async function storeInSqlite(path: string): Promise<ChunkStore> {
  const database = await openSqliteFile(path)
  database.exec('pragma synchronous = normal')
  const find = database.prepare('select 1 from snapshot_chunks where chunk_id = ?')
  const insert = database.prepare(
    'insert into snapshot_chunks (chunk_id, content) values (?, ?) on conflict (chunk_id) do nothing',
  )
  let unflushed = 0
  let flushing = Promise.resolve()
  return {
    async store(chunks) {
      const missing = chunks.filter(({ chunk_id }) => !find.get(chunk_id))
      if (missing.length === 0) return
      database.exec('begin immediate')
      for (const { chunk_id, content } of missing) {
        insert.run(chunk_id, content)
        unflushed += content.length
      }
      database.exec('commit')
      if (unflushed < FLUSHED_AT_ONCE) return
      // In the background, and early: at the end, all of it would take as long as a fifth of the whole.
      unflushed = 0
      flushing = flushing.then(() => flushLog(path))
      flushing.catch(() => {})
    },
    async flush() {
      await flushing
      await flushLog(path)
    },
    async close() {
      // While a locker is read the log only grows. Whoever commits next would move all of it into the file.
      database.exec('pragma wal_checkpoint(passive)')
      database.close()
    },
  }
}

async function flushLog(path: string): Promise<void> {
  await using log = await open(`${path}-wal`, 'r+')
  await log.sync()
}
