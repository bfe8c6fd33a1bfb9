import type { Bucket } from './bucket.ts'

/** A question of some 200 KiB, and one answer without a cursor. */
const IDS_AT_ONCE = 5000
const QUESTIONS_AT_ONCE = 4

/** Which of these objects are not there. */
export async function absentObjects(bucket: Bucket, ids: readonly string[]): Promise<Set<string>> {
  const absent = new Set(ids)
  for (const round of slices([...slices([...absent], IDS_AT_ONCE)], QUESTIONS_AT_ONCE)) {
    for (const there of await Promise.all(round.map((some) => presentOf(bucket, some)))) {
      for (const id of there) absent.delete(id)
    }
  }
  return absent
}

async function presentOf({ files, ask }: Bucket, ids: readonly string[]): Promise<string[]> {
  const filter = { _id: { $in: ids }, 'metadata.isWhole': true }
  const found = await ask((options) =>
    files.find(filter, { ...options, projection: { _id: 1 }, batchSize: ids.length + 1 }).toArray(),
  )
  return found.map(({ _id }) => _id)
}

function* slices<T>(all: readonly T[], length: number): Generator<T[]> {
  for (let at = 0; at < all.length; at += length) yield all.slice(at, at + length)
}
