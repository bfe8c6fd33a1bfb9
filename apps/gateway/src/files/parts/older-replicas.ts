// During a rolling update, replicas of release 1.1.0 run beside this one and may finish uploads that it began.

import { sql } from 'kysely'
import type { Context } from '../../context.ts'

/** The longest expected duration of an update. */
const UPDATE_MS = 3_600_000
/** A trace of release 1.1.0, which does not start on a database that a later release created. */
const ITS_MIGRATION = '0001-signing-keys'

/** Whether such replicas may be running: for a while after this process starts, on a database that they used. */
export function olderReplicas({ database, now }: Pick<Context, 'database' | 'now'>): () => Promise<boolean> {
  const until = now() + UPDATE_MS
  let isFromThen: boolean | null = null
  return async () => {
    if (now() >= until) return false
    isFromThen ??= await hasItsMigration(database)
    return isFromThen
  }
}

async function hasItsMigration({ db }: Context['database']): Promise<boolean> {
  const { rows } = await sql`select name from schema_migrations where name = ${ITS_MIGRATION}`.execute(db)
  return rows.length > 0
}
