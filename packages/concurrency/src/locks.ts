// Locks: one holder at a time, one at a time per key, or up to a limit. All are first come, first served.

/** A lock with one holder at a time. `acquire` resolves to the function that releases it. */
export function mutex(): { acquire(): Promise<() => void> } {
  let last: Promise<void> = Promise.resolve()
  return {
    async acquire() {
      const previous = last
      let release = () => {}
      last = new Promise((resolve) => {
        release = resolve
      })
      await previous
      return release
    },
  }
}

export type KeyedMutex = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

/** Runs one piece of work at a time for each key. */
export function keyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const mine = (last.get(key) ?? Promise.resolve()).then(work, work)
    last.set(key, mine)
    try {
      return await mine
    } finally {
      if (last.get(key) === mine) last.delete(key)
    }
  }
}

export type Limit = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Runs up to `max` pieces of work at a time; the rest wait. */
export function limit(max: number): Limit {
  const waiting: (() => void)[] = []
  let free = max

  async function enter(): Promise<void> {
    if (free === 0) return new Promise((resolve) => waiting.push(resolve))
    free--
  }

  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else free++
  }

  return async (work) => {
    await enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
