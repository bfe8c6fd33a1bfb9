// What is costly to find out: found out once for all who ask meanwhile, and known for a while.

import { setTimeout as pause } from 'node:timers/promises'

interface Finding<Value> {
  /** Never throws: null is what cannot be found out. */
  find: () => Promise<Value | null>
  /** How long it is known, after having taken so long to find. */
  keptMs: (tookMs: number) => number
  /** Nobody waits longer: what was known before is answered then, and the new once it is there. */
  waitMs: number
  /** Unix milliseconds. */
  now: () => number
}

export function remembered<Value>({ find, keptMs, waitMs, now }: Finding<Value>): () => Promise<Value | null> {
  let known: Value | null = null
  let foundAt = Number.NEGATIVE_INFINITY
  let keptFor = 0
  let underWay: Promise<Value | null> | null = null

  async function refresh(): Promise<Value | null> {
    const began = performance.now()
    known = await find()
    keptFor = keptMs(performance.now() - began)
    foundAt = now()
    underWay = null
    return known
  }

  return async () => {
    const isFresh = Math.abs(now() - foundAt) < keptFor
    if (!underWay && isFresh) return known
    underWay ??= Promise.race([refresh(), pause(waitMs, null, { ref: false }).then(() => known)])
    return underWay
  }
}

/** Five seconds, or so long that finding it out takes a twentieth of the time at the most. */
export function sparingly(tookMs: number): number {
  return Math.max(5_000, 20 * tookMs)
}
