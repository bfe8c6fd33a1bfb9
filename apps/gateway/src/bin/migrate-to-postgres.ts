// `svc-gateway migrate-to-postgres`: moves the SQLite database of a stopped gateway to the empty PostgreSQL database in
// TARGET_DATABASE_URL. See docs/operations.md.

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
      'Now set DATABASE_URL to the PostgreSQL database, and start the gateway with otherwise unchanged settings.',
    )
    console.log(`Keep ${sqlitePath}: no gateway can start with it any more.`)
    const { drivers, localFolder } = config.storage
    if (Object.values(drivers).includes('local'))
      console.log(`Files stay in ${localFolder}: gateways on several machines have to share that folder.`)
  } catch (error) {
    // The message is empty if several addresses were tried.
    console.error((error as Error).message || error)
    process.exitCode = FAILED
  }
}

function sqlitePathOf(databaseUrl: string): string {
  if (databaseUrl.startsWith('sqlite:')) return databaseUrl.slice('sqlite:'.length)
  throw new Error('DATABASE_URL must name the SQLite database to move, or be empty for the one in DATA_DIR')
}

/** Not an argument: other users of the machine can read arguments, and the URL contains a password. */
function readTarget(): string {
  const url = process.env.TARGET_DATABASE_URL ?? ''
  if (/^postgres(ql)?:\/\//.test(url)) return url
  throw new Error(
    'TARGET_DATABASE_URL must be the URL of an empty PostgreSQL database: postgres://user:password@host/name',
  )
}
