// Locks for one holder or for a limited number, global or per key. All but `places` serve callers in order.

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

/** Acquires a place for each key and returns the function that releases them, or null, acquiring none, if one is full. */
export type AcquirePlaces = (...limits: { key: string; max: number }[]) => (() => void) | null

/** Limits work per key. Work beyond the limit is refused, not queued. */
export function places(): AcquirePlaces {
  const taken = new Map<string, number>()
  const add = (key: string, change: number) => {
    const count = (taken.get(key) ?? 0) + change
    if (count === 0) taken.delete(key)
    else taken.set(key, count)
  }
  return (...limits) => {
    if (limits.some(({ key, max }) => (taken.get(key) ?? 0) >= max)) return null
    for (const { key } of limits) add(key, 1)
    return () => {
      for (const { key } of limits) add(key, -1)
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

export type KeyedLimit = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

/** Runs up to `max` pieces of work at a time for each key. */
export function keyedLimit(max: number): KeyedLimit {
  const limits = new Map<string, { run: Limit; count: number }>()
  return async (key, work) => {
    const own = limits.get(key) ?? { run: limit(max), count: 0 }
    limits.set(key, own)
    own.count++
    try {
      return await own.run(work)
    } finally {
      own.count--
      if (own.count === 0) limits.delete(key)
    }
  }
}
