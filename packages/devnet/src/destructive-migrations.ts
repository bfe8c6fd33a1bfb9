// For tests of migrations: which of them would disturb an older release that runs beside them.

import { columnTypesOf } from '@svc/database/dialects'
import { changeOf, type Migrations } from '@svc/database/migrate'
import { createSqliteDialect } from '@svc/database/sqlite'
import { Kysely } from 'kysely'

const DESTRUCTIVE = /\b(drop|rename)\b|\balter column\b|\bset not null\b/i

/** Migrations that drop or rename something without declaring it, as SQLite sees them. */
export async function destructiveMigrations(migrations: Migrations): Promise<string[]> {
  const statements: string[] = []
  const db = new Kysely<unknown>({
    dialect: createSqliteDialect(':memory:'),
    log: ({ query }) => void statements.push(query.sql),
  })
  const found: string[] = []
  for (const [name, migration] of Object.entries(migrations).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { change, needs } = changeOf(migration)
    await change(db, columnTypesOf('sqlite'))
    if (statements.splice(0).some((text) => DESTRUCTIVE.test(text)) && needs === null) found.push(name)
  }
  await db.destroy()
  return found
}
