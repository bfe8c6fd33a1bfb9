/**
 * Does the work and passes it whether a slot of `max` was free for the key. A subscriber with much to do, or with
 * requests that hang, must not keep all others waiting.
 */
export type WithSlot = <T>(key: string, max: number, work: (isFree: boolean) => Promise<T>) => Promise<T>

/** Counts within this process, because it protects the workers of this process. */
export function createSubscriberSlots(): WithSlot {
  const taken = new Map<string, number>()
  return async (key, max, work) => {
    const before = taken.get(key) ?? 0
    taken.set(key, before + 1)
    try {
      return await work(before < max)
    } finally {
      const left = (taken.get(key) as number) - 1
      if (left === 0) taken.delete(key)
      else taken.set(key, left)
    }
  }
}
