// The gateway's database, opened by a thread for itself.

import { dialectNameOf } from '@svc/database/dialects'
import type { LockerReading } from './read-locker.ts'
import { type ChunkStore, readFromSqlite, storeInSqlite } from './sqlite-access.ts'

export async function openLockerReading(databaseUrl: string, lockerId: string): Promise<LockerReading> {
  const path = sqlitePathOf(databaseUrl)
  if (path !== null) return readFromSqlite(path, lockerId)
  const { connectToPostgres, readFromPostgres } = await import('./postgres-access.ts')
  const db = connectToPostgres(databaseUrl)
  const reading = await readFromPostgres(db, lockerId)
  async function close() {
    await reading.close()
    await db.destroy()
  }
  return { ...reading, close }
}

export async function openChunkStore(databaseUrl: string): Promise<ChunkStore> {
  const path = sqlitePathOf(databaseUrl)
  if (path !== null) return storeInSqlite(path)
  const [{ connectToPostgres }, { storeChunks }] = await Promise.all([
    import('./postgres-access.ts'),
    import('./store.ts'),
  ])
  const db = connectToPostgres(databaseUrl)
  return { store: (chunks) => storeChunks(db, chunks), flush: async () => {}, close: () => db.destroy() }
}

/** Null of PostgreSQL, which is loaded only where it is used. */
export function sqlitePathOf(databaseUrl: string): string | null {
  return dialectNameOf(databaseUrl) === 'sqlite' ? databaseUrl.slice('sqlite:'.length) : null
}
