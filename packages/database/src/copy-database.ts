// Copies a database to a file while others write to it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { backup } from 'node:sqlite'
import { openSqliteReader } from './sqlite-file.ts'

/** The file is a SQLite database, or an archive for pg_restore. */
export async function copyDatabase(url: string, file: string): Promise<void> {
  if (url.startsWith('sqlite:')) await copySqlite(url.slice('sqlite:'.length), file)
  else await dumpPostgres(new URL(url), file)
}

/** All pages at once: SQLite begins again whenever another process writes between two steps of a copy. */
const ALL_PAGES = 2 ** 31 - 1

async function copySqlite(path: string, file: string): Promise<void> {
  const source = openSqliteReader(path)
  try {
    await backup(source, file, { rate: ALL_PAGES })
  } finally {
    source.close()
  }
}

/** Other users of the machine can read arguments: the password is in a variable of pg_dump. */
async function dumpPostgres(url: URL, file: string): Promise<void> {
  const password = decodeURIComponent(url.password) || url.searchParams.get('password')
  url.password = ''
  url.searchParams.delete('password')
  const env = { ...process.env, ...(password && { PGPASSWORD: password }) }
  const args = ['--format=custom', `--file=${file}`, `--dbname=${url.href}`]
  const dump = spawn('pg_dump', args, { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = (await once(dump, 'close').catch((cause) => {
    throw new Error('pg_dump cannot be started: install the client of PostgreSQL here, or run pg_dump elsewhere', {
      cause,
    })
  })) as [number]
  if (code !== 0) throw new Error('pg_dump failed: there is no backup')
}
