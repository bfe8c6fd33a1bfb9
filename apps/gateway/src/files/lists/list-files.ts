import type { Query } from '@svc/api/endpoint'
import type { FileEntry } from '@svc/api/file-entries'
import type * as files from '@svc/api/files'
import type { FileList } from '@svc/api/files'
import { JsonStream } from '@svc/service/http/answer'
import type { Context } from '../../context.ts'
import type { Db, Locker } from '../../db/schema.ts'
import { type FilePage, firstPageOf, isLong, jsonItems, nextCursor, pagesFrom, readPage } from './file-pages.ts'
import { findPage, isSelective, outlineOf } from './find-files.ts'
import type { ListedFile } from './store.ts'

export async function listFiles(
  { database: { db } }: Context,
  { locker_id }: Locker,
  query: Query<typeof files.listFiles>,
  disconnected: AbortSignal,
): Promise<FileList | JsonStream<FileList>> {
  if (isSelective(query)) return findFiles(db, locker_id, query, disconnected)
  const page = await readPage(db, locker_id, firstPageOf(query))
  if (isLong(query, page)) return new JsonStream(longList(db, locker_id, page))
  const files = page.files.map(fileEntry)
  return { locker_id, files, count: files.length, ...nextCursor(page) }
}

/** Each may be 700 characters long. */
const MAX_CURSORS = 10_000

async function findFiles(
  db: Db,
  locker_id: string,
  query: Query<typeof files.listFiles>,
  disconnected: AbortSignal,
): Promise<FileList> {
  const page = await findPage(db, locker_id, query, disconnected)
  const found = page.files.map(fileEntry)
  const outline = query.outline && (await outlineOf(db, locker_id, query, { maxCursors: MAX_CURSORS, disconnected }))
  return {
    locker_id,
    files: found,
    count: found.length,
    ...(query.folders && { folders: page.folders }),
    ...(outline && { outline }),
    ...nextCursor(page),
  }
}

async function* longList(db: Db, lockerId: string, first: FilePage): AsyncGenerator<string> {
  let count = 0
  async function* entries() {
    for await (const files of pagesFrom(db, lockerId, first)) {
      count += files.length
      yield files.map(fileEntry)
    }
  }
  yield `{"locker_id":"${lockerId}","files":[`
  yield* jsonItems(entries())
  yield `],"count":${count}}`
}

/** The first page. */
export async function firstFiles({ database }: Context, { locker_id }: Locker): Promise<FileEntry[]> {
  return (await readPage(database.db, locker_id, firstPageOf({}))).files.map(fileEntry)
}

export function fileEntry(file: ListedFile): FileEntry {
  const { filename, size_bytes, content_hash, content_type, uploaded_at, hash_recorded_at, provider_ref } = file
  const status = content_hash === null ? 'awaiting_bytes' : 'confirmed'
  const entry = { filename, size_bytes, content_hash, content_type, uploaded_at, hash_recorded_at, status } as const
  return provider_ref === null ? entry : { ...entry, provider_ref: contentId(provider_ref) }
}

/** Drivers may append details to a ref after a question mark, such as the unpadded size of an object. */
function contentId(ref: string): string {
  return ref.replace(/\?.*$/, '')
}
