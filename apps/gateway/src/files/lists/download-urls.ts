import type { Body, Query } from '@svc/api/endpoint'
import type { DownloadUrls } from '@svc/api/file-entries'
import type * as files from '@svc/api/files'
import type * as lockers from '@svc/api/lockers'
import { JsonStream } from '@svc/service/http/answer'
import type { LockerCaller } from '../../auth/callers.ts'
import { limitSigner } from '../../auth/limits.ts'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/schema.ts'
import { findFiles } from '../store.ts'
import { downloadUrl, mapInChunks, type UrlMinter, urlMinter } from '../urls.ts'
import { type FilePage, firstPageOf, isLong, jsonItems, nextCursor, pagesFrom, readPage } from './file-pages.ts'
import type { ListedFile } from './store.ts'

/** Download URLs of the named files, in the order of the request, each name once. */
export async function fileUrls(
  context: Context,
  caller: LockerCaller,
  { filenames, ttl_min }: Body<typeof files.fileUrls>,
): Promise<DownloadUrls> {
  await limitSigner(context, caller.signer)
  const { locker_id } = caller.locker
  const names = [...new Set(filenames)]
  const known = new Map((await findFiles(context.database.db, locker_id, names)).map((file) => [file.filename, file]))
  const found = names.flatMap((name) => known.get(name) ?? []).filter(hasBytes)
  const minter = urlMinter(context, caller, ttl_min)
  return {
    locker_id,
    urls: await mapInChunks(found, (file) => downloadUrl(minter, file)),
    found: found.length,
    not_found: names.filter((name) => !hasBytes(known.get(name))),
    urls_expire_in_sec: minter.expiresIn,
  }
}

/** Download URLs of all files in the locker. */
export async function lockerUrls(
  context: Context,
  caller: LockerCaller,
  query: Query<typeof lockers.lockerUrls>,
): Promise<DownloadUrls | JsonStream<DownloadUrls>> {
  const firstPage = firstPageOf(query)
  await limitSigner(context, caller.signer)
  const { locker_id } = caller.locker
  const { db } = context.database
  const page = await readPage(db, locker_id, firstPage)
  const minter = urlMinter(context, caller, query.ttl_min)
  if (isLong(query, page)) return new JsonStream(longUrls(db, locker_id, page, minter))
  return pageUrls(locker_id, page, minter)
}

/** The URLs of the first page; the cursor leads to the rest. */
export async function firstUrls(context: Context, caller: LockerCaller, ttlMinutes: number): Promise<DownloadUrls> {
  await limitSigner(context, caller.signer)
  const { locker_id } = caller.locker
  const page = await readPage(context.database.db, locker_id, firstPageOf({}))
  return pageUrls(locker_id, page, urlMinter(context, caller, ttlMinutes))
}

async function pageUrls(locker_id: string, page: FilePage, minter: UrlMinter): Promise<DownloadUrls> {
  const found = page.files.filter(hasBytes)
  return {
    locker_id,
    urls: await mapInChunks(found, (file) => downloadUrl(minter, file)),
    found: found.length,
    not_found: page.files.filter((file) => !hasBytes(file)).map(({ filename }) => filename),
    urls_expire_in_sec: minter.expiresIn,
    ...nextCursor(page),
  }
}

/**
 * Reads the files twice, first those without bytes. A file whose bytes arrive in between is then in both lists instead
 * of in neither.
 */
async function* longUrls(db: Db, lockerId: string, first: FilePage, minter: UrlMinter): AsyncGenerator<string> {
  let found = 0
  async function* missing() {
    for await (const files of pagesFrom(db, lockerId, first)) {
      yield files.filter((file) => !hasBytes(file)).map(({ filename }) => filename)
    }
  }
  async function* urls() {
    for await (const files of pagesFrom(db, lockerId, first)) {
      const some = files.filter(hasBytes)
      found += some.length
      yield await mapInChunks(some, (file) => downloadUrl(minter, file))
    }
  }
  yield `{"locker_id":"${lockerId}","urls_expire_in_sec":${minter.expiresIn},"not_found":[`
  yield* jsonItems(missing())
  yield '],"urls":['
  yield* jsonItems(urls())
  yield `],"found":${found}}`
}

/** According to the database; the provider is not queried. */
function hasBytes(file: ListedFile | undefined): boolean {
  return file !== undefined && file.object_id !== null
}
