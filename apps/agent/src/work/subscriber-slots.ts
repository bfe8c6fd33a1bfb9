/**
 * Runs the work, and passes whether one of `max` slots was free for the key. A subscriber with much work, or with
 * hanging requests, must not delay all others.
 */
export type WithSlot = <T>(key: string, max: number, work: (isFree: boolean) => Promise<T>) => Promise<T>

/** Counts within this process, because it protects the workers of this process. */
export function createSubscriberSlots(): WithSlot {
  const taken = new Map<string, number>()
  return async (key, max, work) => {
    const current = taken.get(key) ?? 0
    taken.set(key, current + 1)
    try {
      return await work(current < max)
    } finally {
      const remaining = (taken.get(key) as number) - 1
      if (remaining === 0) taken.delete(key)
      else taken.set(key, remaining)
    }
  }
}
