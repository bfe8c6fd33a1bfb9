// Which of many objects are not there. A page of the bucket's list tells of a thousand names at once, and costs as
// much as a dozen single questions; it is worth it where many of the names in it are among those asked for.

import { type GcsStore, parseAnswer } from './bucket.ts'

/** A page that tells of fewer is not worth it. */
const FEW = 20
const LISTS_AT_ONCE = 8
const QUESTIONS_AT_ONCE = 32

export async function findAbsent(store: GcsStore, names: readonly string[], prefix: string): Promise<Set<string>> {
  const sorted = [...new Set(names)].sort()
  const length = Math.max(FEW, Math.ceil(sorted.length / LISTS_AT_ONCE))
  const stretches = Array.from({ length: Math.ceil(sorted.length / length) }, (_, i) =>
    sorted.slice(i * length, (i + 1) * length),
  )
  const listed = await Promise.all(stretches.map((stretch) => lookThroughList(store, stretch, prefix)))
  const unknown = listed.flatMap(({ left }) => left)
  return new Set([...listed.flatMap(({ absent }) => absent), ...(await askOneByOne(store, unknown))])
}

interface Looked {
  absent: string[]
  /** Those not looked for, as too few of them are in a page. */
  left: readonly string[]
}

async function lookThroughList(store: GcsStore, stretch: readonly string[], prefix: string): Promise<Looked> {
  const absent: string[] = []
  let left = stretch
  for (let told = FEW; left.length > FEW && told >= FEW; ) {
    const { names, isEnd } = await listFrom(store, left[0] as string, prefix) // there is more than one
    const last = names.at(-1) ?? ''
    const there = new Set(names)
    told = isEnd ? left.length : left.findLastIndex((name) => name <= last) + 1
    absent.push(...left.slice(0, told).filter((name) => !there.has(name)))
    left = left.slice(told)
  }
  return { absent, left }
}

interface Page {
  items?: { name: string }[]
  nextPageToken?: string
}

async function listFrom(store: GcsStore, startOffset: string, prefix: string) {
  const fields = 'items(name),nextPageToken'
  const url = store.url('storage', null, { prefix, startOffset, maxResults: '1000', fields })
  const answer = await store.ask({ method: 'GET', url }, [])
  return parseAnswer(answer, ({ items = [], nextPageToken }: Page) => ({
    names: items.map(({ name }) => name),
    isEnd: nextPageToken === undefined,
  }))
}

async function askOneByOne(store: GcsStore, names: readonly string[]): Promise<string[]> {
  const absent: string[] = []
  const waiting = names.values()
  const askers = Array.from({ length: Math.min(QUESTIONS_AT_ONCE, names.length) }, async () => {
    for (const name of waiting) if (!(await store.find(name))) absent.push(name)
  })
  await Promise.all(askers)
  return absent
}
