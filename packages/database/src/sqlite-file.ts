// Opens SQLite files the one way this project uses them.

import { DatabaseSync } from 'node:sqlite'
import { retry } from '@svc/concurrency/retry'

/** How long to wait for another process. node:sqlite blocks this whole process meanwhile. */
const BUSY_TIMEOUT_MS = 5000
const BUSY_CODE = 5

export async function openSqliteFile(path: string): Promise<DatabaseSync> {
  const database = open(path, { readOnly: false })
  await switchToWriteAheadLog(database)
  database.exec('pragma synchronous = full; pragma foreign_keys = on')
  return database
}

/** Sees what is committed when its first query begins, and neither waits for the writer nor blocks it. */
export function openSqliteReader(path: string): DatabaseSync {
  return open(path, { readOnly: true })
}

function open(path: string, { readOnly }: { readOnly: boolean }): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, readOnly })
  } catch (cause) {
    throw new Error(`cannot open the SQLite file ${path}`, { cause })
  }
}

/** When several processes do this to a fresh file at once, SQLite ignores its own timeout and fails: retry instead. */
async function switchToWriteAheadLog(database: DatabaseSync): Promise<void> {
  await retry(async () => database.exec('pragma journal_mode = wal'), {
    attempts: Number.POSITIVE_INFINITY,
    backoffMs: 5,
    giveUpMs: BUSY_TIMEOUT_MS,
    isRetryable: (error) => error instanceof Error && 'errcode' in error && error.errcode === BUSY_CODE,
  })
}
