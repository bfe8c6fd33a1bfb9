import { forEachParallel } from '../absent.ts'
import { ProviderError } from '../provider.ts'
import { findObject, requireBucket, type S3Bucket } from './bucket.ts'
import { textIn, textsIn } from './xml.ts'

/** Storj accepts a hundred requests a second. */
const AT_ONCE = 16
/** A page of a listing, of at most a thousand keys, takes about as long as this many queries about single objects. */
const PAGE_COSTS = 4

/**
 * The missing ones of these objects. When many are in the same folder, its listing shows the existing ones, and only
 * the others are queried.
 */
export async function findAbsent(bucket: S3Bucket, ids: ReadonlySet<string>): Promise<Set<string>> {
  const folders = Map.groupBy(ids, (id) => bucket.folderOf(id))
  const listed = new Set<string>()
  await forEachParallel(folders, AT_ONCE, ([folder, wanted]) =>
    listKeys(bucket, folder, Math.floor(wanted.length / PAGE_COSTS), listed),
  )
  const absent = new Set<string>()
  const unseen = [...folders.values()].flat().filter((id) => !listed.has(bucket.keyOf(id)))
  await forEachParallel(unseen, AT_ONCE, async (id) => {
    if (!(await findObject(bucket, bucket.keyOf(id)))) absent.add(id)
  })
  if (absent.size > 0) await requireBucket(bucket)
  return absent
}

/** Up to this many pages, whose keys are in no reliable order. */
async function listKeys(bucket: S3Bucket, folder: string, maxPages: number, listed: Set<string>): Promise<void> {
  let token: string | null = ''
  for (let page = 0; page < maxPages && token !== null; page++) {
    const from: Record<string, string> = token ? { 'continuation-token': token } : {}
    const text = await list(bucket, { 'list-type': '2', prefix: folder, ...from })
    for (const key of textsIn(text, 'Key')) listed.add(key)
    token = textIn(text, 'NextContinuationToken')
  }
}

/** Empty without permission to list: credentials that may read may not always list. */
async function list(bucket: S3Bucket, query: Record<string, string>): Promise<string> {
  try {
    return (await bucket.ask({ method: 'GET', query })).text
  } catch (error) {
    const status = error instanceof ProviderError ? (error.answer?.status ?? 500) : 500
    if (status < 500 || status === 501) return ''
    throw error
  }
}
