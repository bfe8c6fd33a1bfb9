import { findObject, requireBucket } from './find-object.ts'
import { Refusal } from './errors.ts'
import type { Store } from './bucket.ts'
import { textIn, textsIn } from './xml.ts'

/** Storj lets in a hundred requests a second. */
const AT_ONCE = 16
/** A page of a listing, of a thousand keys at most, takes about as long as asking for so many objects one by one. */
const PAGE_COSTS = 4

/**
 * Which of these objects are not there. Where many have the same folder, those that its listing names are there, and
 * only the others are asked for.
 */
export async function findAbsent(store: Store, ids: ReadonlySet<string>): Promise<Set<string>> {
  const folders = Map.groupBy(ids, (id) => store.folderOf(id))
  const seen = new Set<string>()
  await inParallel([...folders], ([folder, wanted]) => see(store, folder, Math.floor(wanted.length / PAGE_COSTS), seen))
  const absent = new Set<string>()
  const unseen = [...folders.values()].flat().filter((id) => !seen.has(store.keyOf(id)))
  await inParallel(unseen, async (id) => {
    if (!(await findObject(store, store.keyOf(id)))) absent.add(id)
  })
  if (absent.size > 0) await requireBucket(store)
  return absent
}

/** Reads so many pages of a listing, which are in no order that could be relied on. */
async function see(store: Store, folder: string, pages: number, seen: Set<string>): Promise<void> {
  let token: string | null = ''
  for (let page = 0; page < pages && token !== null; page++) {
    const from: Record<string, string> = token ? { 'continuation-token': token } : {}
    const text = await list(store, { 'list-type': '2', prefix: folder, ...from })
    for (const key of textsIn(text, 'Key')) seen.add(key)
    token = textIn(text, 'NextContinuationToken')
  }
}

/** Not everybody may list who may read. */
async function list(store: Store, query: Record<string, string>): Promise<string> {
  try {
    return (await store.ask({ method: 'GET', query })).text
  } catch (error) {
    if (error instanceof Refusal && (error.status < 500 || error.status === 501)) return ''
    throw error
  }
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  let hasFailed = false
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const item of queue) {
      if (hasFailed) return
      await work(item).catch((error) => {
        hasFailed = true
        throw error
      })
    }
  })
  await Promise.all(workers)
}
