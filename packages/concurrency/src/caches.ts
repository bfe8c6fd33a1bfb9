// Caches: the most recently used values, or one value that is expensive to load. `refreshing` needs Node's timers.

import { setTimeout as sleep } from 'node:timers/promises'

export interface Lru<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
}

/** Keeps the most recently used values, up to `capacity`: the number of values, or the sum of their weights. */
export function lru<Key, Value>(capacity: number, weigh: (value: Value) => number = () => 1): Lru<Key, Value> {
  // A Map keeps insertion order, so its first key is the least recently used.
  const values = new Map<Key, Value>()
  let weight = 0

  function remove(key: Key): void {
    const value = values.get(key)
    if (value === undefined) return
    values.delete(key)
    weight -= weigh(value)
  }

  return {
    get(key) {
      const value = values.get(key)
      if (value !== undefined) {
        values.delete(key)
        values.set(key, value)
      }
      return value
    },
    set(key, value) {
      remove(key)
      values.set(key, value)
      weight += weigh(value)
      while (weight > capacity) remove(values.keys().next().value as Key)
    },
  }
}

interface Refreshing<Value> {
  /** Resolves to null when the value cannot be loaded; never throws. */
  load: () => Promise<Value | null>
  /** How long a value stays fresh, given how long it took to load. */
  freshMs: (loadMs: number) => number
  /** How long a caller waits for a load before it gets the previous value. */
  waitMs: number
  /** Unix milliseconds. */
  now: () => number
}

/** A value that is loaded again when a caller asks for it after it expired. Callers that ask meanwhile share the load. */
export function refreshing<Value>({ load, freshMs, waitMs, now }: Refreshing<Value>): () => Promise<Value | null> {
  let value: Value | null = null
  let loadedAt = Number.NEGATIVE_INFINITY
  let freshFor = 0
  let loading: Promise<Value | null> | null = null

  async function refresh(): Promise<Value | null> {
    const began = performance.now()
    value = await load()
    freshFor = freshMs(performance.now() - began)
    loadedAt = now()
    loading = null
    return value
  }

  return async () => {
    const isFresh = Math.abs(now() - loadedAt) < freshFor
    if (!loading && isFresh) return value
    loading ??= Promise.race([refresh(), sleep(waitMs, null, { ref: false }).then(() => value)])
    return loading
  }
}

/** At least five seconds, and long enough that loading takes at most a twentieth of the time. */
export function freshInProportion(loadMs: number): number {
  return Math.max(5_000, 20 * loadMs)
}
