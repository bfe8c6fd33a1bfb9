/** Reproducible random numbers from a seed. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number
  below(limit: number): number
  between(low: number, high: number): number
  pick<T>(items: readonly T[]): T
  chance(probability: number): boolean
  bytes(length: number): Buffer<ArrayBuffer>
  shuffled<T>(items: readonly T[]): T[]
}

/** The generator mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    next,
    below,
    between: (low, high) => low + below(high - low + 1),
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    chance: (probability) => next() < probability,
    bytes(length) {
      const bytes = Buffer.alloc(length)
      for (let i = 0; i < length; i++) bytes[i] = below(256)
      return bytes
    },
    shuffled: (items) =>
      items
        .map((item) => ({ item, at: next() }))
        .sort((a, b) => a.at - b.at)
        .map(({ item }) => item),
  }
}
