import { setImmediate } from 'node:timers/promises'

/** So many signatures take a few milliseconds. */
const AT_ONCE = 16

/** Maps what takes long in all: others get their turn in between. */
export async function mapInTurns<Item, Result>(items: readonly Item[], map: (item: Item) => Result): Promise<Result[]> {
  const results: Result[] = []
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % AT_ONCE === 0) await setImmediate()
    results.push(map(item))
  }
  return results
}
