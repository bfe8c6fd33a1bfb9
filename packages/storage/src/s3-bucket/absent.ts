import { forEachParallel } from '../absent.ts'
import { ProviderError } from '../provider.ts'
import { findObject, requireBucket, type S3Bucket } from './bucket.ts'
import { textIn, textsIn } from './xml.ts'

/** Storj accepts a hundred requests a second. */
const AT_ONCE = 16
/** A page of a listing, of a thousand keys at most, takes about as long as this many questions about single objects. */
const PAGE_COSTS = 4

/**
 * Which of these objects are missing. When many are in the same folder, its listing shows those that are there, and only
 * the others are asked for.
 */
export async function findAbsent(bucket: S3Bucket, ids: ReadonlySet<string>): Promise<Set<string>> {
  const folders = Map.groupBy(ids, (id) => bucket.folderOf(id))
  const seen = new Set<string>()
  await forEachParallel(folders, AT_ONCE, ([folder, wanted]) =>
    listKeys(bucket, folder, Math.floor(wanted.length / PAGE_COSTS), seen),
  )
  const absent = new Set<string>()
  const unseen = [...folders.values()].flat().filter((id) => !seen.has(bucket.keyOf(id)))
  await forEachParallel(unseen, AT_ONCE, async (id) => {
    if (!(await findObject(bucket, bucket.keyOf(id)))) absent.add(id)
  })
  if (absent.size > 0) await requireBucket(bucket)
  return absent
}

/** Up to this many pages, whose keys are in no reliable order. */
async function listKeys(bucket: S3Bucket, folder: string, maxPages: number, seen: Set<string>): Promise<void> {
  let token: string | null = ''
  for (let page = 0; page < maxPages && token !== null; page++) {
    const from: Record<string, string> = token ? { 'continuation-token': token } : {}
    const text = await list(bucket, { 'list-type': '2', prefix: folder, ...from })
    for (const key of textsIn(text, 'Key')) seen.add(key)
    token = textIn(text, 'NextContinuationToken')
  }
}

/** Credentials that may read need not be allowed to list. */
async function list(bucket: S3Bucket, query: Record<string, string>): Promise<string> {
  try {
    return (await bucket.ask({ method: 'GET', query })).text
  } catch (error) {
    const status = error instanceof ProviderError ? (error.answer?.status ?? 500) : 500
    if (status < 500 || status === 501) return ''
    throw error
  }
}
