// `svc-gateway backup --to FOLDER`: copies the database while the gateway runs. See docs/operations.md.

import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { copyDatabase } from '@svc/database/copy-database'
import { type Config, readConfig } from '../config.ts'

export const USAGE = `usage: svc-gateway backup --to FOLDER [--keep COPIES]
FOLDER gets gateway-<time>.db (SQLite), or gateway-<time>.dump (PostgreSQL, by pg_dump).
--keep removes all but the newest COPIES of them`

const FAILED = 1
const COPY = /^gateway-\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z\.(db|dump)$/

export async function run(args: string[]): Promise<void> {
  try {
    const { to, keep } = readArguments(args)
    const { config, secrets } = readConfig(process.env)
    await mkdir(to, { recursive: true, mode: 0o700 })
    const file = await writeCopy(secrets.databaseUrl, to)
    const removed = await removeOldCopies(to, keep)
    console.log(`Backup: ${file}${removed > 0 ? ` (${removed} older removed)` : ''}`)
    for (const line of notIncluded(config)) console.error(line)
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = FAILED
  }
}

function readArguments(args: string[]): { to: string; keep: number } {
  const options = { to: { type: 'string' }, keep: { type: 'string', default: 'Infinity' } } as const
  const { values } = parseArgs({ args, options })
  const keep = Number(values.keep)
  if (!values.to || !(keep >= 1)) throw new Error(USAGE)
  return { to: resolve(values.to), keep }
}

/** The copy has its name only once it is complete and on disk. */
async function writeCopy(databaseUrl: string, folder: string): Promise<string> {
  const isSqlite = databaseUrl.startsWith('sqlite:')
  const time = new Date().toISOString().replaceAll(':', '')
  const file = join(folder, `gateway-${time}.${isSqlite ? 'db' : 'dump'}`)
  const partial = `${file}.part`
  // Only its owner may read it, whatever the umask.
  await (await open(partial, 'wx', 0o600)).close()
  try {
    await copyDatabase(databaseUrl, partial)
    await syncFile(partial)
    await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
  return file
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

async function removeOldCopies(folder: string, keep: number): Promise<number> {
  const copies = (await readdir(folder)).filter((name) => COPY.test(name)).sort()
  const old = copies.slice(0, Math.max(0, copies.length - keep))
  for (const name of old) await rm(join(folder, name))
  return old.length
}

function notIncluded({ continuity: { logbookDir }, storage: { drivers, localFolder } }: Config): string[] {
  const isLocal = Object.values(drivers).includes('local')
  return [
    'Not included: the keys and the settings, which you back up when they change.',
    ...(isLocal ? [`Not included: files. Copy ${localFolder} now, after the database.`] : []),
    ...(logbookDir ? [`Not included: the journal ${logbookDir}. It must not be restored with the database.`] : []),
  ]
}
