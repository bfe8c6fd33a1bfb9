// `svc-gateway migrate-to-postgres`: moves the SQLite database of a stopped gateway to the empty PostgreSQL database that
// TARGET_DATABASE_URL names. See docs/operations.md.

import { readConfig } from '../config.ts'
import { moveDatabase } from '../db/move/move-database.ts'

const FAILED = 1

export async function run(): Promise<void> {
  try {
    const { config, secrets } = readConfig(process.env)
    const sqlitePath = sqlitePathOf(secrets.databaseUrl)
    const postgresUrl = readTarget()
    const { tables, rows, jobs } = await moveDatabase({
      sqlitePath,
      postgresUrl,
      onTable: (name, content) => console.error(`${name}: ${content.rows} rows`),
    })
    console.log(`Moved ${rows} rows of ${tables} tables and ${jobs} jobs; each table was read back and is the same.`)
    console.log(
      'Now set DATABASE_URL to the PostgreSQL database, and start the gateway with otherwise the same settings.',
    )
    console.log(`Keep ${sqlitePath}: no gateway starts on it any more.`)
    const { drivers, localFolder } = config.storage
    if (Object.values(drivers).includes('local'))
      console.log(`Files stay in ${localFolder}: gateways on several machines need that folder in common.`)
  } catch (error) {
    // Where several addresses were tried, the message is empty.
    console.error((error as Error).message || error)
    process.exitCode = FAILED
  }
}

function sqlitePathOf(databaseUrl: string): string {
  if (databaseUrl.startsWith('sqlite:')) return databaseUrl.slice('sqlite:'.length)
  throw new Error('DATABASE_URL must name the SQLite database that is to be moved, or be empty for the one in DATA_DIR')
}

/** Not an argument: others on the machine can read those, and it holds a password. */
function readTarget(): string {
  const url = process.env.TARGET_DATABASE_URL ?? ''
  if (/^postgres(ql)?:\/\//.test(url)) return url
  throw new Error(
    'TARGET_DATABASE_URL must be the address of an empty PostgreSQL database: postgres://user:password@host/name',
  )
}
