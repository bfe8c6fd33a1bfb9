// The files of a folder or of a search, and the cursors of the pages of a list. Each query is short, however many files
// exist, and other requests can run between two queries.

import { setImmediate } from 'node:timers/promises'
import type { Query } from '@svc/api/endpoint'
import type { FileList, listFiles } from '@svc/api/files'
import { compareCodePoints } from '@svc/protocol/order'
import { requireStorableText } from '@svc/service/http/validate'
import { ValidationError } from '@svc/service/service-error'
import type { Db } from '../../db/schema.ts'
import { findFiles } from '../store.ts'
import { cursorAfter, firstPageOf } from './file-pages.ts'
import { filesIn, type ListedFile, matchingFiles, namesAhead, walkFiles } from './store.ts'
import { afterName, BY_SLASH, entryOf, type Folding, type NameRange, topOf } from './walk-names.ts'

type ListQuery = Query<typeof listFiles>

const SEARCH_BATCH = 20_000
/** An outline reads every name of the list (T-10), so its pages must not be tiny. */
const MIN_OUTLINED = 100

export interface FoundPage {
  files: ListedFile[]
  folders: string[]
  /** The file or folder after which the next page starts; null at the end. */
  next: string | null
}

/** Whether the query selects some of the files, or requests more than files. */
export function isSelective({ prefix, folders, search, outline }: ListQuery): boolean {
  return prefix !== undefined || Boolean(folders) || search !== undefined || Boolean(outline)
}

/** `disconnected`: the client has disconnected. */
export async function findPage(
  db: Db,
  lockerId: string,
  query: ListQuery,
  disconnected: AbortSignal,
): Promise<FoundPage> {
  const { search, folders, outline } = query
  const range = rangeOf(query)
  const { limit } = firstPageOf(query)
  if (search !== undefined && (folders || outline))
    throw new ValidationError({ loc: ['query', 'search'], msg: 'cannot be combined with folders or outline' })
  if (outline && limit < MIN_OUTLINED)
    throw new ValidationError({ loc: ['query', 'limit'], msg: `must be at least ${MIN_OUTLINED} with outline` })
  if (search !== undefined) return searchPage(db, lockerId, range, search, limit, disconnected)
  if (folders) return entriesPage(db, lockerId, range, foldingOf(query), limit)
  return cutFiles(await filesIn(db, lockerId, range, limit + 1), limit)
}

function rangeOf(query: ListQuery): NameRange {
  const { prefix = '', search = '' } = query
  requireStorableText(prefix, ['query', 'prefix'])
  requireStorableText(search, ['query', 'search'])
  const { after } = firstPageOf(query)
  const isInside = after !== null && compareCodePoints(after, prefix) >= 0
  return { from: isInside ? entryEnd(after) : prefix, upTo: topOf(prefix) }
}

/** The text after an entry: for a folder, whose name ends with a slash, the text after all of its contents. */
function entryEnd(entry: string): string {
  return entry.endsWith('/') ? topOf(entry) : afterName(entry)
}

function foldingOf({ prefix = '' }: ListQuery): Folding {
  return { ...BY_SLASH, prefix }
}

function cutFiles(rows: ListedFile[], limit: number): FoundPage {
  const files = rows.slice(0, limit)
  return { files, folders: [], next: rows.length > limit ? (files.at(-1) as ListedFile).filename : null }
}

async function entriesPage(
  db: Db,
  lockerId: string,
  range: NameRange,
  folding: Folding,
  limit: number,
): Promise<FoundPage> {
  const entries = (await walkFiles(db, lockerId, range, folding, limit + 1)).map((name) => entryOf(name, folding))
  const page = entries.slice(0, limit)
  const names = page.filter((entry) => !entry.endsWith('/'))
  const known = new Map((await findFiles(db, lockerId, names)).map((file) => [file.filename, file]))
  return {
    files: names.flatMap((name) => known.get(name) ?? []),
    folders: page.filter((entry) => entry.endsWith('/')),
    next: entries.length > limit ? (page.at(-1) as string) : null,
  }
}

async function searchPage(
  db: Db,
  lockerId: string,
  { from, upTo }: NameRange,
  search: string,
  limit: number,
  disconnected: AbortSignal,
): Promise<FoundPage> {
  const found: ListedFile[] = []
  for (let next: string | null = from; next !== null && found.length <= limit && !disconnected.aborted; ) {
    const ahead = await namesAhead(db, lockerId, { from: next, upTo }, BY_SLASH, SEARCH_BATCH)
    if (ahead.last === null) break
    const range = { from: next, upTo: ahead.last }
    found.push(...(await matchingFiles(db, lockerId, range, search, limit + 1 - found.length)))
    next = ahead.count < SEARCH_BATCH ? null : entryEnd(ahead.last)
    await setImmediate()
  }
  return cutFiles(found, limit)
}

/** Counts the list page by page, until it ends or reaches the limit of cursors (T-10). */
export async function outlineOf(
  db: Db,
  lockerId: string,
  query: ListQuery,
  { maxCursors, disconnected }: { maxCursors: number; disconnected: AbortSignal },
): Promise<NonNullable<FileList['outline']>> {
  const { cursor: _, ...uncursored } = query
  const { limit } = firstPageOf(query)
  const folding = foldingOf(query)
  const ends: string[] = []
  let { from, upTo } = rangeOf(uncursored)
  for (let entries = 0; ; ) {
    const range = { from, upTo }
    const ahead = await namesAhead(db, lockerId, range, folding, limit)
    const isNested = Boolean(query.folders) && ahead.nested > 0
    const firsts = isNested ? await walkFiles(db, lockerId, range, folding, limit) : []
    const count = isNested ? firsts.length : ahead.count
    const last = isNested ? entryOf(firsts.at(-1) as string, folding) : ahead.last
    entries += count
    const isEnd = count < limit || last === null
    if (isEnd || ends.length === maxCursors || disconnected.aborted) {
      const cursors = ends.slice(0, pagesOf(entries, limit) - 1).map(cursorAfter)
      return { entries, cursors, ...(!isEnd && { truncated: true }) }
    }
    ends.push(last)
    from = entryEnd(last)
    await setImmediate()
  }
}

function pagesOf(entries: number, limit: number): number {
  return Math.max(1, Math.ceil(entries / limit))
}
