// PostgreSQL as threads use it, and the gateway where it does their work itself.

import { createPostgresDialect } from '@svc/database/postgres'
import { Kysely } from 'kysely'
import type { Db } from '../../db/schema.ts'
import { type ListedFile, type LockerReading, PAGE } from './read-locker.ts'
import { findLockerHead, type ListedFileRow, listedFiles } from './store.ts'

/** The gateway has brought it to its newest migration. */
export function connectToPostgres(databaseUrl: string): Db {
  return new Kysely({ dialect: createPostgresDialect(databaseUrl) })
}

/** In a transaction that sees what was committed when it began, on a connection of its own. */
export async function readFromPostgres(db: Db, lockerId: string): Promise<LockerReading> {
  const tx = await db.startTransaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute()
  try {
    const head = await findLockerHead(tx, lockerId)
    if (!head) throw new Error(`there is no locker ${lockerId}`)
    return {
      manifestVersion: head.manifest_version,
      borderKey: head.border_key,
      pages: () => pagesOf(listedFiles(tx, lockerId).stream(PAGE)),
      close: () => tx.rollback().execute(),
    }
  } catch (error) {
    await tx.rollback().execute()
    throw error
  }
}

async function* pagesOf(files: AsyncIterable<ListedFileRow>): AsyncGenerator<ListedFile[]> {
  let page: ListedFile[] = []
  for await (const { filename, size_bytes, content_hash, content_type, object_id, provider_ref } of files) {
    page.push([filename, size_bytes, content_hash, content_type, object_id, provider_ref])
    if (page.length < PAGE) continue
    yield page
    page = []
  }
  yield page
}
