// During a rolling update replicas of release 1.1.0 serve beside this one, and may finish what it has begun.

import { sql } from 'kysely'
import type { Context } from '../../context.ts'

/** How long an update takes at most. */
const UPDATE_MS = 3_600_000
/** What only release 1.1.0 has left in a database: it does not start on one that a later release has created. */
const ITS_MIGRATION = '0001-signing-keys'

/** Whether such replicas may be running: for a while from the start of this process, on a database that had them. */
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
