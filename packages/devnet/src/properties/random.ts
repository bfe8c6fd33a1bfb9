import type fc from 'fast-check'

/** Random choices of changes. */
export interface Random {
  /** A whole number from 0 up to, but not including, the limit. */
  below(limit: number): number
  pick<T>(items: readonly T[]): T
  /** True once in this many calls on average. */
  oneIn(times: number): boolean
}

export function randomOf(generator: fc.Random): Random {
  const below = (limit: number) => generator.nextInt(0, limit - 1)
  return {
    below,
    pick: (items) => items[below(items.length)]!,
    oneIn: (times) => below(times) === 0,
  }
}
