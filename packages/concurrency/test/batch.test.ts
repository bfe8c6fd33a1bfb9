import { describe, expect, it } from 'vitest'
import { batch } from '../src/sharing.ts'

describe('batches', () => {
  it('does together what is asked for in one turn, and gives everybody their own answer', async () => {
    const batches: number[][] = []
    const double = batch(async (items: number[]) => {
      batches.push(items)
      return items.map((n) => n * 2)
    })
    expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6])
    expect(await double(4)).toBe(8)
    expect(batches).toEqual([[1, 2, 3], [4]])
  })

  it('gathers while a batch runs', async () => {
    const sizes: number[] = []
    const gate = Promise.withResolvers<void>()
    const run = batch(async (items: number[]) => {
      sizes.push(items.length)
      await gate.promise
      return items
    })
    const first = run(1)
    await new Promise((resolve) => setImmediate(resolve))
    const others = [2, 3, 4].map(run)
    gate.resolve()
    await Promise.all([first, ...others])
    expect(sizes).toEqual([1, 3])
  })

  it('keeps a batch small enough for one statement', async () => {
    const sizes: number[] = []
    const run = batch(async (items: number[]) => {
      sizes.push(items.length)
      return items
    })
    const numbers = Array.from({ length: 1200 }, (_, i) => i)
    expect(await Promise.all(numbers.map(run))).toEqual(numbers)
    expect(sizes).toEqual([500, 500, 200])
  })

  it('fails everybody in a batch that fails, and nobody in the next', async () => {
    let isBroken = true
    const run = batch(async (items: number[]) => {
      if (isBroken) throw new Error('disk full')
      return items
    })
    const results = await Promise.allSettled([run(1), run(2)])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    isBroken = false
    expect(await run(3)).toBe(3)
  })
})
