import type { Store } from './store.ts'

const IDS_AT_ONCE = 500
const QUESTIONS_AT_ONCE = 4

/** Which of these objects are not there. */
export async function absentObjects(store: Store, ids: readonly string[]): Promise<Set<string>> {
  const absent = new Set(ids)
  const questions = slices([...absent], IDS_AT_ONCE)
  const askInTurn = async () => {
    for (const some of questions) {
      for (const { name } of await store.fetch(some.map(store.objectName), ['size'])) {
        absent.delete(name.slice(name.lastIndexOf('/') + 1))
      }
    }
  }
  await Promise.all(Array.from({ length: QUESTIONS_AT_ONCE }, askInTurn))
  return absent
}

/** A generator: who fails leaves its loop, which ends it for all others. */
function* slices<T>(all: readonly T[], length: number): Generator<T[]> {
  for (let at = 0; at < all.length; at += length) yield all.slice(at, at + length)
}
