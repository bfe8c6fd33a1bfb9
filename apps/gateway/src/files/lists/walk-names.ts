// Folds the names of a locker into entries: all names with the same text up to a delimiter are one entry. Each entry
// costs one index lookup, however many names it has.

import { isSqlite, prepared } from '@svc/database/prepared'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/schema.ts'

/** A range of texts, whose ends need not be names. */
export interface NameRange {
  from: string
  upTo: string
}

/**
 * Names that begin with the prefix and contain the delimiter after it are folded into one entry, which ends with the
 * delimiter.
 */
export interface Folding {
  prefix: string
  delimiter: string
}

export const BY_SLASH: Folding = { prefix: '', delimiter: '/' }

/**
 * Appended to a text, this is at or above every name with that beginning: a name has at most 512 bytes, and each of
 * these characters has four.
 */
const TOP = '\u{10ffff}'.repeat(128)
/** Appended to a name, this is the next possible text: names have no control characters. */
const AFTER_NAME = '\u0001'

export function afterName(name: string): string {
  return name + AFTER_NAME
}

/** A text at or above every name that begins with `prefix`. */
export function topOf(prefix: string): string {
  return prefix + TOP
}

/** The entry of a name that begins with the prefix. */
export function entryOf(name: string, { prefix, delimiter }: Folding): string {
  const at = name.indexOf(delimiter, prefix.length)
  return at === -1 ? name : name.slice(0, at + delimiter.length)
}

/** The start of the entries after the entry of this name. */
export function afterEntry(name: string, folding: Folding): string {
  const isFolded = name.indexOf(folding.delimiter, folding.prefix.length) !== -1
  return isFolded ? topOf(entryOf(name, folding)) : afterName(name)
}

/** The first name of each entry in the range, in code-point order. */
type WalkNames = (db: Db, lockerId: string, range: NameRange, folding: Folding, limit: number) => Promise<string[]>

/** SQL for the first name of a locker between two texts, inclusive, or null. */
type FirstName = (lockerId: string, from: RawBuilder<unknown>, upTo: string) => RawBuilder<unknown>

export function walkBy(firstName: FirstName): WalkNames {
  const walk = prepared(
    (
      db: Db,
      lockerId: string,
      from: string,
      upTo: string,
      start: number,
      delimiter: string,
      afterFolded: string,
      behindName: string,
      limit: number,
    ) => {
      const at = delimiterFrom(db, 'walk.name', start, delimiter)
      const next = sql`case when ${at} > 0
        then substr(walk.name, 1, cast(${start} as integer) + ${at} - 2) || ${afterFolded}
        else walk.name || ${behindName} end`
      const walked = sql<{ name: string; step: number }>`(
        with recursive walk(name, step) as (
          select (${firstName(lockerId, sql`${from}`, upTo)}), 1
          union all
          select (${firstName(lockerId, next, upTo)}), step + 1 from walk where walk.name is not null and step < ${limit}
        )
        select name, step from walk where name is not null)`
      return db.selectFrom(walked.as('walked')).select('name').orderBy('step')
    },
  )
  return async (db, lockerId, { from, upTo }, folding, limit) => {
    const { delimiter } = folding
    const start = startOf(folding)
    const { rows } = await walk(db, lockerId, from, upTo, start, delimiter, topOf(delimiter), AFTER_NAME, limit)
    return rows.map(({ name }) => name)
  }
}

/** The position of the first character after the prefix, counted from 1. */
export function startOf({ prefix }: Folding): number {
  return [...prefix].length + 1
}

/** SQL for the position of the first delimiter, counted from character `start`; 0 without one. */
export function delimiterFrom(db: Db, column: string, start: number, delimiter: string): RawBuilder<number> {
  const find = sql.raw(isSqlite(db) ? 'instr' : 'strpos')
  return sql`${find}(substr(${sql.ref(column)}, cast(${start} as integer)), ${delimiter})`
}
