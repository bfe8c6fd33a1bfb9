// Opens SQLite files with this project's settings.

import { existsSync } from 'node:fs'
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

/** Reads what is committed when its first query begins. Neither waits for the writer nor blocks it. */
export function openSqliteReader(path: string): DatabaseSync {
  return open(path, { readOnly: true })
}

/**
 * Opens the file in a transaction of its only connection. Fails immediately while another process has the file open; no
 * process can open it until this one closes it.
 */
export function openSqliteExclusively(path: string): DatabaseSync {
  if (!existsSync(path)) throw new Error(`there is no SQLite file ${path}`)
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('pragma locking_mode = exclusive; begin immediate')
  } catch (cause) {
    database.close()
    throw new Error(`the SQLite file ${path} is in use: stop every process that uses it`, { cause })
  }
  return database
}

function open(path: string, { readOnly }: { readOnly: boolean }): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, readOnly })
  } catch (cause) {
    throw new Error(`cannot open the SQLite file ${path}`, { cause })
  }
}

/** When several processes switch a new file at once, SQLite ignores its own timeout and fails: retry instead. */
async function switchToWriteAheadLog(database: DatabaseSync): Promise<void> {
  await retry(async () => database.exec('pragma journal_mode = wal'), {
    attempts: Number.POSITIVE_INFINITY,
    backoffMs: 5,
    giveUpMs: BUSY_TIMEOUT_MS,
    isRetryable: (error) => error instanceof Error && 'errcode' in error && error.errcode === BUSY_CODE,
  })
}
