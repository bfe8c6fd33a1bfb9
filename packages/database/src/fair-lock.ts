/** Held by one at a time, first come, first served. Call what `acquire` answers to let the next one in. */
export function createFairLock(): { acquire(): Promise<() => void> } {
  let last: Promise<void> = Promise.resolve()
  return {
    async acquire() {
      const previous = last
      const { promise, resolve } = Promise.withResolvers<void>()
      last = promise
      await previous
      return resolve
    },
  }
}
