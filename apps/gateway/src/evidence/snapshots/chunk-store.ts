// Stores the chunks of a thread over the thread's own database connection.

import { open } from 'node:fs/promises'
import { createCommit } from '@svc/database/commit'
import { openSqliteFile } from '@svc/database/sqlite-file'
import { connectToPostgres, sqlitePathOf } from './read-files.ts'
import { type ChunkRow, storeChunks } from './store.ts'

interface ChunkStore {
  store(chunks: readonly ChunkRow[]): Promise<void>
  /** Makes all stored chunks durable. */
  flush(): Promise<void>
  close(): Promise<void>
}

export async function openChunkStore(databaseUrl: string): Promise<ChunkStore> {
  const path = sqlitePathOf(databaseUrl)
  if (path !== null) return openSqliteChunkStore(path)
  const db = await connectToPostgres(databaseUrl)
  const commit = createCommit(db, 'postgres')
  return {
    store: (chunks) => commit((tx) => storeChunks(tx, chunks)),
    flush: async () => {},
    close: () => db.destroy(),
  }
}

const FLUSH_AFTER_CHARACTERS = 16_000_000

/**
 * The log is not flushed at every commit, so that the gateway's own commits wait as little as possible. Chunks have no
 * meaning until a statement names them, which happens only after they are flushed.
 */
async function openSqliteChunkStore(path: string): Promise<ChunkStore> {
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
      if (unflushed < FLUSH_AFTER_CHARACTERS) return
      // Flush early and in the background: one flush at the end would take a fifth of the total time.
      unflushed = 0
      flushing = flushing.then(() => flushLog(path))
      flushing.catch(() => {})
    },
    async flush() {
      await flushing
      await flushLog(path)
    },
    async close() {
      // The log has only grown while the locker was read. Without this, the next commit would move all of it.
      database.exec('pragma wal_checkpoint(passive)')
      database.close()
    },
  }
}

async function flushLog(path: string): Promise<void> {
  await using log = await open(`${path}-wal`, 'r+')
  await log.sync()
}
