// Finds which of many objects are missing. A page of the bucket's list names a thousand objects, and costs as much as a
// dozen single queries. It pays off when many of the names on it are wanted.

import { forEachParallel, slices } from '../absent.ts'
import { type GcsBucket, parseAnswer } from './bucket.ts'

/** A page with fewer wanted names does not pay off. */
const MIN_PER_PAGE = 20
const LISTS_AT_ONCE = 8
const QUESTIONS_AT_ONCE = 32

export async function findAbsent(bucket: GcsBucket, names: readonly string[], prefix: string): Promise<Set<string>> {
  const sorted = [...new Set(names)].sort()
  const length = Math.max(MIN_PER_PAGE, Math.ceil(sorted.length / LISTS_AT_ONCE))
  const listed = await Promise.all([...slices(sorted, length)].map((some) => lookUpInList(bucket, some, prefix)))
  const absent = new Set(listed.flatMap((found) => found.absent))
  const unknown = listed.flatMap((found) => found.unknown)
  await forEachParallel(unknown, QUESTIONS_AT_ONCE, async (name) => {
    if (!(await bucket.find(name))) absent.add(name)
  })
  return absent
}

interface LookedUp {
  absent: string[]
  /** Objects that were not looked up, because too few of them are on a page. */
  unknown: readonly string[]
}

async function lookUpInList(bucket: GcsBucket, names: readonly string[], prefix: string): Promise<LookedUp> {
  const absent: string[] = []
  let unknown = names
  for (let covered = MIN_PER_PAGE; unknown.length > MIN_PER_PAGE && covered >= MIN_PER_PAGE; ) {
    const page = await listNames(bucket, { prefix, startOffset: unknown[0] as string }) // there is more than one
    const last = page.names.at(-1) ?? ''
    const present = new Set(page.names)
    covered = page.isLast ? unknown.length : unknown.findLastIndex((name) => name <= last) + 1
    absent.push(...unknown.slice(0, covered).filter((name) => !present.has(name)))
    unknown = unknown.slice(covered)
  }
  return { absent, unknown }
}

interface ListAnswer {
  items?: { name: string }[]
  nextPageToken?: string
}

/** A page of the bucket's list, in order. */
export async function listNames(bucket: GcsBucket, from: { prefix: string; startOffset?: string }) {
  const fields = 'items(name),nextPageToken'
  const url = bucket.url('storage', null, { ...from, maxResults: '1000', fields })
  const answer = await bucket.ask({ method: 'GET', url }, [])
  return parseAnswer(answer, ({ items = [], nextPageToken }: ListAnswer) => ({
    names: items.map(({ name }) => name),
    isLast: nextPageToken === undefined,
  }))
}
