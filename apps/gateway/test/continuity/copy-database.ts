// Backs up and restores a database, as admins do.

import { copyFile, rm } from 'node:fs/promises'
import type { TestDatabase } from '@svc/devnet/databases'
import { sharedPostgres } from '@svc/devnet/postgres-server'

export type CopiedDatabase = Pick<TestDatabase, 'url' | 'dialect'>

/** No gateway may have an SQLite file open. Gateways on PostgreSQL lose their connections and reconnect. */
export async function copyDatabase({ url, dialect }: CopiedDatabase, from: 'live' | 'backup'): Promise<void> {
  if (dialect === 'sqlite') {
    const path = url.slice('sqlite:'.length)
    const [source, target] = from === 'live' ? [path, `${path}.backup`] : [`${path}.backup`, path]
    for (const ending of ['-wal', '-shm']) await rm(target + ending, { force: true })
    return copyFile(source, target)
  }
  const server = await sharedPostgres()
  const live = new URL(url).pathname.slice(1)
  const [source, target] = from === 'live' ? [live, `${live}_backup`] : [`${live}_backup`, live]
  await server.execute(`drop database if exists ${target} with (force)`)
  await server.execute(`alter database ${source} with allow_connections false`)
  await server.execute(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${source}'`)
  await server.execute(`create database ${target} template ${source} strategy file_copy`)
  await server.execute(`alter database ${source} with allow_connections true`)
}

export async function dropBackup({ url, dialect }: CopiedDatabase): Promise<void> {
  if (dialect === 'sqlite') return
  const server = await sharedPostgres()
  await server.execute(`drop database if exists ${new URL(url).pathname.slice(1)}_backup with (force)`)
}
