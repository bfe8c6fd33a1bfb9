// Backs up and restores a database as an admin does.

import { copyFile, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { createPostgresDialect } from '@svc/database/postgres'
import { Kysely, sql } from 'kysely'

export interface Backups {
  /** Gateways may run; they lose their connections to PostgreSQL. */
  take(): Promise<void>
  /** No gateway may run. */
  restore(): Promise<void>
}

const BUSY_TIMEOUT_MS = 60_000

export function sqliteBackups(path: string, backup: string): Backups {
  return {
    async take() {
      await rm(backup, { force: true })
      const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
      database.exec(`vacuum into '${backup}'`)
      database.close()
    },
    async restore() {
      for (const ending of ['', '-wal', '-shm']) await rm(path + ending, { force: true })
      await copyFile(backup, path)
    },
  }
}

export function postgresBackups(url: string): Backups {
  const live = new URL(url).pathname.slice(1)
  async function copy(source: string, target: string): Promise<void> {
    // Connect to neither of the two databases.
    const db = new Kysely<unknown>({ dialect: createPostgresDialect(url.replace(/[^/]+$/, 'template1')) })
    const execute = (statement: string) => sql.raw(statement).execute(db)
    try {
      await execute(`drop database if exists ${target} with (force)`)
      await execute(`alter database ${source} with allow_connections false`)
      await execute(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${source}'`)
      await execute(`create database ${target} template ${source} strategy file_copy`)
      for (const each of [source, target]) await execute(`alter database ${each} with allow_connections true`)
    } finally {
      await db.destroy()
    }
  }
  return { take: () => copy(live, 'backup'), restore: () => copy('backup', live) }
}
