import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'

/** How long to wait for another process; node:sqlite blocks this whole process meanwhile. */
const busyTimeoutMs = 5000
const busyCode = 5

export async function openSqliteFile(path: string): Promise<DatabaseSync> {
  const database = open(path, { readOnly: false })
  await switchToWriteAheadLog(database)
  database.exec('pragma synchronous = full; pragma foreign_keys = on')
  return database
}

/** Sees what is committed when its first query begins, and neither waits for the writer nor makes it wait. */
export function openSqliteReader(path: string): DatabaseSync {
  return open(path, { readOnly: true })
}

function open(path: string, { readOnly }: { readOnly: boolean }): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: busyTimeoutMs, readOnly })
  } catch (cause) {
    throw new Error(`cannot open the SQLite file ${path}`, { cause })
  }
}

/** When several processes do this to a fresh file at once, SQLite fails without waiting: we wait in its place. */
async function switchToWriteAheadLog(database: DatabaseSync): Promise<void> {
  const pauseMs = 5
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      return database.exec('pragma journal_mode = wal')
    } catch (error) {
      const isBusy = error instanceof Error && 'errcode' in error && error.errcode === busyCode
      if (!isBusy || waitedMs >= busyTimeoutMs) throw error
      await setTimeout(pauseMs)
    }
  }
}
