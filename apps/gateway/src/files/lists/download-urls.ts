import type { Query } from '@svc/api/endpoint'
import type { DownloadUrls } from '@svc/api/file-entries'
import type * as lockers from '@svc/api/lockers'
import { JsonStream } from '@svc/http-service/answer'
import type { LockerCaller } from '../../auth/callers.ts'
import { limitSigner } from '../../auth/limits.ts'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/schema.ts'
import { hasBytes } from '../file-urls.ts'
import { mapInTurns } from '../in-turns.ts'
import { downloadUrl, type UrlMinter, urlMinter } from '../urls.ts'
import { type FilePage, firstPageOf, isLong, jsonItems, nextCursor, pagesFrom, readPage } from './file-pages.ts'

/** A URL for every file of the locker that has bytes, the names of those that have none. */
export async function lockerUrls(
  context: Context,
  { locker, signer }: LockerCaller,
  query: Query<typeof lockers.lockerUrls>,
): Promise<DownloadUrls | JsonStream<DownloadUrls>> {
  const firstPage = firstPageOf(query)
  await limitSigner(context, signer)
  const { locker_id } = locker
  const { db } = context.database
  const page = await readPage(db, locker_id, firstPage)
  const minter = urlMinter(context, locker, query.ttl_min)
  if (isLong(query, page)) return new JsonStream(longUrls(db, locker_id, page, minter))
  const found = page.files.filter(hasBytes)
  return {
    locker_id,
    urls: await mapInTurns(found, (file) => downloadUrl(minter, file)),
    found: found.length,
    not_found: page.files.filter((file) => !hasBytes(file)).map(({ filename }) => filename),
    urls_expire_in_sec: minter.expiresIn,
    ...nextCursor(page),
  }
}

/** Reads the files twice, those without bytes first: a file whose bytes come meanwhile is in both lists, not in none. */
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
      yield await mapInTurns(some, (file) => downloadUrl(minter, file))
    }
  }
  yield `{"locker_id":"${lockerId}","urls_expire_in_sec":${minter.expiresIn},"not_found":[`
  yield* jsonItems(missing())
  yield '],"urls":['
  yield* jsonItems(urls())
  yield `],"found":${found}}`
}
