// Files that have bytes, in the order of their names. Names without bytes are skipped. Each query reads a limited
// number of rows, however many names lack bytes, and other requests can run between two queries.

import { setImmediate } from 'node:timers/promises'
import { prepared } from '@svc/database/prepared'
import { sql } from 'kysely'
import type { Db } from '../../db/schema.ts'
import { type StoredFile, storedIn } from './store.ts'
import { afterEntry, afterName, type Folding, type NameRange, walkBy } from './walk-names.ts'

/** A minimum batch, so that a few names without bytes do not cause a query each. */
const MIN_READ = 100
/** How many names without bytes one step of a walk skips. */
const SKIPPED_PER_STEP = 200
const SKIPPED_PER_QUERY = 20_000

/** `disconnected`: the client has disconnected. */
export async function storedFiles(
  db: Db,
  lockerId: string,
  { from, upTo }: NameRange,
  limit: number,
  disconnected: AbortSignal,
): Promise<StoredFile[]> {
  const found: StoredFile[] = []
  for (let next: string | null = from; next !== null && !disconnected.aborted; ) {
    const wanted = Math.max(limit - found.length, MIN_READ)
    const rows: StoredFile[] = await storedIn(db, lockerId, { from: next, upTo }, wanted)
    found.push(...rows.filter(({ object_id }) => object_id !== null))
    if (found.length >= limit || rows.length < wanted) break
    const last = rows.at(-1) as StoredFile // MIN_READ rows or more
    next = await nextStored(db, lockerId, { from: afterName(last.filename), upTo }, disconnected)
  }
  return found.slice(0, limit)
}

/** The first name with bytes of each entry. */
export async function storedEntries(
  db: Db,
  lockerId: string,
  { from, upTo }: NameRange,
  folding: Folding,
  limit: number,
  disconnected: AbortSignal,
): Promise<string[]> {
  const found: string[] = []
  for (let next: string | null = from; next !== null && !disconnected.aborted; ) {
    found.push(...(await walkStored(db, lockerId, { from: next, upTo }, folding, limit - found.length)))
    if (found.length === limit) break
    // The walk also ends at a long run of names without bytes, although names with bytes may follow.
    const last = found.at(-1)
    const behind: string = last === undefined ? next : afterEntry(last, folding)
    next = await nextStored(db, lockerId, { from: behind, upTo }, disconnected)
  }
  return found
}

/** The inner query defines the order. Sorting again would make SQLite read all of its rows for the first one. */
const walkStored = walkBy(
  (lockerId, from, upTo) => sql`
    select filename from (
      select filename, object_id from files
      where locker_id = ${lockerId} and filename >= ${from} and filename <= ${upTo}
      order by filename limit ${sql.lit(SKIPPED_PER_STEP)}
    ) as ahead where object_id is not null limit 1`,
)

async function nextStored(
  db: Db,
  lockerId: string,
  { from, upTo }: NameRange,
  disconnected: AbortSignal,
): Promise<string | null> {
  for (let next = from; !disconnected.aborted; ) {
    await setImmediate()
    const { first, last } = (await lookAhead(db, lockerId, next, upTo, SKIPPED_PER_QUERY)).rows[0] as Ahead // one row
    if (first !== null || last === null) return first
    next = afterName(last)
  }
  return null
}

interface Ahead {
  /** The first name with bytes. */
  first: string | null
  /** The last of all names. */
  last: string | null
}

const lookAhead = prepared((db: Db, lockerId: string, from: string, upTo: string, limit: number) => {
  const ahead = sql<{ filename: string; object_id: string | null }>`(
    select filename, object_id from files
    where locker_id = ${lockerId} and filename >= ${from} and filename <= ${upTo} order by filename limit ${limit})`
  return db
    .selectFrom(ahead.as('ahead'))
    .select([
      sql<string | null>`min(case when object_id is not null then filename end)`.as('first'),
      sql<string | null>`max(filename)`.as('last'),
    ])
})
