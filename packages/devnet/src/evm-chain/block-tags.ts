import { numberToHex } from 'viem'

/**
 * The engine calls its newest block final. With a depth, `finalized` answers that many blocks below the head and
 * `safe` one below, as chain 143 tells proposed, voted and finalized blocks apart.
 */
export function resolveTags(params: readonly unknown[], head: number, depth: number): readonly unknown[] {
  if (depth === 0) return params
  return params.map((param) => {
    if (typeof param === 'string') return resolve(param)
    if (typeof param !== 'object' || param === null || Array.isArray(param)) return param
    return Object.fromEntries(
      Object.entries(param).map(([key, value]) => [key, key.endsWith('Block') ? resolve(value) : value]),
    )
  })

  function resolve(tag: unknown): unknown {
    if (tag === 'finalized') return numberToHex(Math.max(0, head - depth))
    if (tag === 'safe') return numberToHex(Math.max(0, head - 1))
    return tag
  }
}
