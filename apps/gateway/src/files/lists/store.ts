// Queries for files in the order of their names, by page or by range.

import { isSqlite, prepared } from '@svc/database/prepared'
import { sql } from 'kysely'
import type { Db, FileRow, Locker } from '../../db/schema.ts'
import { delimiterFrom, type Folding, type NameRange, startOf, walkBy } from './walk-names.ts'

/** The columns that lists of files need. */
const LISTED = [
  'filename',
  'size_bytes',
  'object_bytes',
  'content_hash',
  'content_type',
  'uploaded_at',
  'hash_recorded_at',
  'provider_ref',
  'object_id',
] as const

export type ListedFile = Pick<FileRow, (typeof LISTED)[number]>

/** In code-point order, starting after a name. */
export async function pageOfFiles(
  db: Db,
  lockerId: string,
  after: string | null,
  limit: number,
): Promise<ListedFile[]> {
  return (await selectPage(db, lockerId, after ?? BEFORE_ALL, limit)).rows
}

/** Names are never empty. */
const BEFORE_ALL = ''

const selectPage = prepared((db: Db, lockerId: string, after: string, limit: number) =>
  filesAfter(db, lockerId, after, limit),
)

export type ManifestFacts = Pick<Locker, 'manifest_version' | 'manifest_changed_at' | 'file_count' | 'total_bytes'>

/** Like `pageOfFiles`, with the locker's totals. One SQL statement reads both, so that they show the same state. */
export async function pageOfManifest(
  db: Db,
  lockerId: string,
  after: string | null,
  limit: number,
): Promise<{ facts: ManifestFacts; files: ListedFile[] }> {
  const rows = await db
    .selectFrom('lockers')
    .leftJoin(filesAfter(db, lockerId, after ?? BEFORE_ALL, limit).as('file'), (join) => join.onTrue())
    .selectAll('file')
    .select(['manifest_version', 'manifest_changed_at', 'file_count', 'total_bytes'])
    .where('lockers.locker_id', '=', lockerId)
    .orderBy('file.filename')
    .execute()
  const facts = rows[0]
  if (!facts) throw new Error(`there is no locker ${lockerId}`)
  // For a locker without files, the left join yields one row of nulls.
  return { facts, files: rows.filter(({ filename }) => filename !== null) as (ManifestFacts & ListedFile)[] }
}

/** The files of the range, in code-point order. */
export async function filesIn(
  db: Db,
  lockerId: string,
  { from, upTo }: NameRange,
  limit: number,
): Promise<ListedFile[]> {
  return (await selectRange(db, lockerId, from, upTo, limit)).rows
}

const selectRange = prepared((db: Db, lockerId: string, from: string, upTo: string, limit: number) =>
  inRange(db, lockerId, from, upTo).select(LISTED).limit(limit),
)

/** The columns that show whether a file has bytes, and which. */
const STORED = [
  'filename',
  'size_bytes',
  'object_bytes',
  'content_hash',
  'uploaded_at',
  'object_id',
  'metadata',
] as const

export type StoredFile = Pick<FileRow, (typeof STORED)[number]>

/** Like `filesIn`, with fewer columns. */
export async function storedIn(
  db: Db,
  lockerId: string,
  { from, upTo }: NameRange,
  limit: number,
): Promise<StoredFile[]> {
  return (await selectStored(db, lockerId, from, upTo, limit)).rows
}

const selectStored = prepared((db: Db, lockerId: string, from: string, upTo: string, limit: number) =>
  inRange(db, lockerId, from, upTo).select(STORED).limit(limit),
)

/** Files of the range whose names contain a text, ignoring the case of A to Z, in code-point order. */
export async function matchingFiles(
  db: Db,
  lockerId: string,
  { from, upTo }: NameRange,
  text: string,
  limit: number,
): Promise<ListedFile[]> {
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  return (await selectMatching(db, lockerId, from, upTo, lower, limit)).rows
}

const selectMatching = prepared((db: Db, lockerId: string, from: string, upTo: string, lower: string, limit: number) =>
  inRange(db, lockerId, from, upTo)
    .select(LISTED)
    // Both engines compare bytes here and lowercase only A to Z. SQLite's `like` confuses U+FFFD to U+FFFF.
    .where(sql<boolean>`${sql.raw(isSqlite(db) ? 'instr' : 'strpos')}(lower(filename), ${lower}) > 0`)
    .limit(limit),
)

export interface NamesAhead {
  count: number
  /** Null without names. */
  last: string | null
  /** How many have the delimiter after the prefix. */
  nested: number
}

/** Summarizes the first `limit` names of the range. */
export async function namesAhead(
  db: Db,
  lockerId: string,
  { from, upTo }: NameRange,
  folding: Folding,
  limit: number,
): Promise<NamesAhead> {
  const { rows } = await countAhead(db, lockerId, from, upTo, startOf(folding), folding.delimiter, limit)
  const { last, count, nested } = rows[0] as NamesAhead // an aggregate returns one row
  return { last, count: Number(count), nested: Number(nested) }
}

const countAhead = prepared(
  (db: Db, lockerId: string, from: string, upTo: string, start: number, delimiter: string, limit: number) => {
    const isNested = sql`${delimiterFrom(db, 'filename', start, delimiter)} > 0`
    return db
      .selectFrom(inRange(db, lockerId, from, upTo).select('filename').limit(limit).as('ahead'))
      .select([
        sql<string | null>`max(filename)`.as('last'),
        sql<number>`count(*)`.as('count'),
        sql<number>`coalesce(sum(case when ${isNested} then 1 else 0 end), 0)`.as('nested'),
      ])
  },
)

export const walkFiles = walkBy(
  (lockerId, from, upTo) => sql`
    select filename from files
    where locker_id = ${lockerId} and filename >= ${from} and filename <= ${upTo} order by filename limit 1`,
)

function inRange(db: Db, lockerId: string, from: string, upTo: string) {
  return db
    .selectFrom('files')
    .where('locker_id', '=', lockerId)
    .where('filename', '>=', from)
    .where('filename', '<=', upTo)
    .orderBy('filename')
}

function filesAfter(db: Db, lockerId: string, after: string, limit: number) {
  return db
    .selectFrom('files')
    .select(LISTED)
    .where('locker_id', '=', lockerId)
    .where('filename', '>', after)
    .orderBy('filename')
    .limit(limit)
}
