/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** A whole number from 0 up to, but not including, the limit. */
  below(limit: number): number
  pick<T>(items: readonly T[]): T
  /** True once in so many times. */
  oneIn(times: number): boolean
  bytes(length: number): Uint8Array
}

/** Mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)

  return {
    below,
    pick: (items) => items[below(items.length)]!,
    oneIn: (times) => below(times) === 0,
    bytes: (length) => Uint8Array.from({ length }, () => below(256)),
  }
}

/** For what a case decides by itself: the same input makes the same decisions, whatever came before it. */
export function randomOf(input: Uint8Array): Random {
  let hash = 0x811c9dc5
  for (const byte of input) hash = Math.imul(hash ^ byte, 0x01000193)
  return seededRandom(hash)
}

/** More would only take longer. */
const MAX_PIECES = 256

/** The bytes in buffers of random lengths, as they may arrive. */
export function splitAtRandom(bytes: Uint8Array, random: Random): Buffer[] {
  const pieces: Buffer[] = []
  const longest = Math.max(random.pick([1, 3, 16, 100, 5000]), Math.ceil((2 * bytes.length) / MAX_PIECES))
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + random.below(longest)
    pieces.push(Buffer.from(bytes.subarray(at, end)))
    at = end
  }
  return pieces
}
