// The files of a folder or of a search, and where each page of a list begins. No query takes long, however many files
// there are; between two, other requests can run.

import { setImmediate } from 'node:timers/promises'
import type { Query } from '@svc/api/endpoint'
import type { FileList, listFiles } from '@svc/api/files'
import { ValidationError } from '@svc/http-service/service-error'
import { requireStorableText } from '@svc/http-service/validate'
import { compareCodePoints } from '@svc/protocol/order'
import type { Db } from '../../db/schema.ts'
import {
  AFTER_NAME,
  AFTER_SLASH,
  findFiles,
  firstNames,
  type ListedFile,
  matchingFiles,
  type NameRange,
  namesAhead,
} from '../store.ts'
import { cursorAfter, firstPageOf } from './file-pages.ts'

type ListQuery = Query<typeof listFiles>

/** Behind a prefix, this is at or above every name that begins so: a name has at most 512 bytes, four for each of these. */
const TOP = '\u{10ffff}'.repeat(128)
const SEARCHED_AT_ONCE = 20_000

export interface FoundPage {
  files: ListedFile[]
  folders: string[]
  /** The file or folder that the next page starts after; null at the end. */
  next: string | null
}

/** Whether the query asks for some of the files, or for more than files. */
export function isSelective({ prefix, folders, search, outline }: ListQuery): boolean {
  return prefix !== undefined || Boolean(folders) || search !== undefined || Boolean(outline)
}

export async function findPage(db: Db, lockerId: string, query: ListQuery): Promise<FoundPage> {
  const { search, folders, outline } = query
  const range = rangeOf(query)
  const { limit } = firstPageOf(query)
  if (search !== undefined && (folders || outline))
    throw new ValidationError({ loc: ['query', 'search'], msg: 'cannot be combined with folders or outline' })
  if (search !== undefined) return searchPage(db, lockerId, range, patternOf(search), limit)
  if (folders) return entriesPage(db, lockerId, range, startOf(query), limit)
  return cutFiles(await matchingFiles(db, lockerId, range, '%', limit + 1), limit)
}

function rangeOf(query: ListQuery): NameRange {
  const { prefix = '', search = '' } = query
  requireStorableText(prefix, ['query', 'prefix'])
  requireStorableText(search, ['query', 'search'])
  const { after } = firstPageOf(query)
  const isInside = after !== null && compareCodePoints(after, prefix) >= 0
  return { from: isInside ? behind(after) : prefix, upTo: prefix + TOP }
}

/** A name with a slash at its end is a folder's; behind it is what follows all that is in it. */
function behind(entry: string): string {
  return entry.endsWith('/') ? entry.slice(0, -1) + AFTER_SLASH : entry + AFTER_NAME
}

/** The first character after the prefix, counted from 1. */
function startOf({ prefix = '' }: ListQuery): number {
  return [...prefix].length + 1
}

function cutFiles(rows: ListedFile[], limit: number): FoundPage {
  const files = rows.slice(0, limit)
  return { files, folders: [], next: rows.length > limit ? (files.at(-1) as ListedFile).filename : null }
}

async function entriesPage(
  db: Db,
  lockerId: string,
  range: NameRange,
  start: number,
  limit: number,
): Promise<FoundPage> {
  const entries = (await firstNames(db, lockerId, range, start, limit + 1)).map((name) => entryOf(name, start))
  const page = entries.slice(0, limit)
  const names = page.filter((entry) => !entry.endsWith('/'))
  const known = new Map((await findFiles(db, lockerId, names)).map((file) => [file.filename, file]))
  return {
    files: names.flatMap((name) => known.get(name) ?? []),
    folders: page.filter((entry) => entry.endsWith('/')),
    next: entries.length > limit ? (page.at(-1) as string) : null,
  }
}

/** The folder of a name that has a slash from `start` on, else the name. */
function entryOf(name: string, start: number): string {
  const prefix = [...name].slice(0, start - 1).join('')
  const slash = name.indexOf('/', prefix.length)
  return slash === -1 ? name : name.slice(0, slash + 1)
}

function patternOf(search: string): string {
  return `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`
}

async function searchPage(
  db: Db,
  lockerId: string,
  { from, upTo }: NameRange,
  pattern: string,
  limit: number,
): Promise<FoundPage> {
  const found: ListedFile[] = []
  for (let next: string | null = from; next !== null && found.length <= limit; ) {
    const ahead = await namesAhead(db, lockerId, { from: next, upTo }, 1, SEARCHED_AT_ONCE)
    if (ahead.last === null) break
    const range = { from: next, upTo: ahead.last }
    found.push(...(await matchingFiles(db, lockerId, range, pattern, limit + 1 - found.length)))
    next = ahead.count < SEARCHED_AT_ONCE ? null : behind(ahead.last)
    await setImmediate()
  }
  return cutFiles(found, limit)
}

/** Counts the whole list, page by page. */
export async function outlineOf(db: Db, lockerId: string, query: ListQuery): Promise<NonNullable<FileList['outline']>> {
  const { cursor: _, ...whole } = query
  const { limit } = firstPageOf(query)
  const start = startOf(query)
  const ends: string[] = []
  let { from, upTo } = rangeOf(whole)
  for (let entries = 0; ; ) {
    const range = { from, upTo }
    const ahead = await namesAhead(db, lockerId, range, start, limit)
    const isNested = Boolean(query.folders) && ahead.nested > 0
    const firsts = isNested ? await firstNames(db, lockerId, range, start, limit) : []
    const count = isNested ? firsts.length : ahead.count
    const last = isNested ? entryOf(firsts.at(-1) as string, start) : ahead.last
    entries += count
    if (count < limit || last === null)
      return { entries, cursors: ends.slice(0, pagesOf(entries, limit) - 1).map(cursorAfter) }
    ends.push(last)
    from = behind(last)
    await setImmediate()
  }
}

function pagesOf(entries: number, limit: number): number {
  return Math.max(1, Math.ceil(entries / limit))
}
