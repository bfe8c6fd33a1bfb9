// Reads the files of a locker in pages: a locker may have a million files.

import { setImmediate } from 'node:timers/promises'
import { fromBase64Url, fromUtf8, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { requireStorableText } from '@svc/service/http/validate'
import { ValidationError } from '@svc/service/service-error'
import type { Db } from '../../db/schema.ts'
import { type ListedFile, pageOfFiles } from './store.ts'

export interface PageQuery {
  /** Without a limit, the answer contains all remaining files. */
  limit?: number
  cursor?: string
}

export interface FilePage {
  files: ListedFile[]
  /** The name after which the next page starts; null at the end. */
  next: string | null
}

const PAGE_SIZE = 1000

export function firstPageOf({ limit = PAGE_SIZE, cursor }: PageQuery): { after: string | null; limit: number } {
  return { after: cursor === undefined ? null : nameIn(cursor), limit }
}

export async function readPage(
  db: Db,
  lockerId: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<FilePage> {
  return cutPage(await pageOfFiles(db, lockerId, after, limit + 1), limit)
}

/** Expects up to `limit + 1` rows. The extra row shows that another page exists. */
export function cutPage(rows: ListedFile[], limit: number): FilePage {
  const files = rows.slice(0, limit)
  return { files, next: rows.length > limit ? (files.at(-1) as ListedFile).filename : null }
}

/** An answer of several pages is streamed. */
export function isLong({ limit }: PageQuery, { next }: FilePage): boolean {
  return limit === undefined && next !== null
}

export function nextCursor({ next }: Pick<FilePage, 'next'>): { next_cursor?: string } {
  return next === null ? {} : { next_cursor: cursorAfter(next) }
}

export function cursorAfter(name: string): string {
  return toBase64Url(utf8(name))
}

/** Yields a page and all following pages. No query stays open between pages, and other requests can run. */
export async function* pagesFrom(db: Db, lockerId: string, first: FilePage): AsyncGenerator<ListedFile[]> {
  let page = first
  for (;;) {
    yield page.files
    if (page.next === null) return
    await setImmediate()
    page = await readPage(db, lockerId, { after: page.next, limit: PAGE_SIZE })
  }
}

/**
 * The items of a JSON array as they arrive, without its brackets. A page without items yields white space, because only
 * a write reveals a disconnected client.
 */
export async function* jsonItems(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  let separator = ''
  for await (const items of pages) {
    const text = items.map((item) => JSON.stringify(item)).join(',')
    yield text === '' ? ' ' : separator + text
    separator = text === '' ? separator : ','
  }
}

function nameIn(cursor: string): string {
  const bytes = fromBase64Url(cursor)
  const name = bytes && fromUtf8(bytes)
  if (name === null) throw new ValidationError({ loc: ['query', 'cursor'], msg: 'must be an unchanged next_cursor' })
  requireStorableText(name, ['query', 'cursor'])
  return name
}
