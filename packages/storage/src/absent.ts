// Queries a provider about many objects: several requests at once, each about some of the ids.

/** Runs work on all items, a few at once. The first failure ends it: no further item is started. */
export async function forEachParallel<Item>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  let hasFailed = false
  const worker = async () => {
    for (let next = queue.next(); !next.done && !hasFailed; next = queue.next()) {
      await work(next.value).catch((error) => {
        hasFailed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

export function* slices<Item>(items: readonly Item[], length: number): Generator<Item[]> {
  for (let at = 0; at < items.length; at += length) yield items.slice(at, at + length)
}

/** The ids that no query finds. */
export async function absentIds(
  ids: Iterable<string>,
  { idsPerQuestion, questionsAtOnce }: { idsPerQuestion: number; questionsAtOnce: number },
  findPresent: (ids: readonly string[]) => Promise<readonly string[]>,
): Promise<Set<string>> {
  const absent = new Set(ids)
  await forEachParallel(slices([...absent], idsPerQuestion), questionsAtOnce, async (some) => {
    for (const id of await findPresent(some)) absent.delete(id)
  })
  return absent
}
