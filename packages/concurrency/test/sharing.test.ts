import { describe, expect, it } from 'vitest'
import { batch, singleFlight } from '../src/sharing.ts'
import { controlledWork } from './work.ts'

describe('singleFlight', () => {
  it('T-10 runs work once for all callers of a key, and again for a later caller', async () => {
    const { started, work, end } = controlledWork()
    const share = singleFlight<string>()
    const [a, b, other] = [share('key', work('first')), share('key', work('second')), share('other', work('other'))]
    expect(started).toEqual(['first', 'other'])
    end('first')
    end('other')
    expect(await Promise.all([a, b, other])).toEqual(['first', 'first', 'other'])
    const again = share('key', work('again'))
    end('again')
    expect(await again).toBe('again')
  })

  it('T-10 rejects for all callers that share a failure, and does not cache it', async () => {
    const { work, fail, end } = controlledWork()
    const share = singleFlight<string>()
    const both = [share('key', work('first')), share('key', work('second'))]
    fail('first')
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const again = share('key', work('again'))
    end('again')
    expect(await again).toBe('again')
  })
})

describe('batch', () => {
  it('processes the items of one turn together, and gives each caller its own result', async () => {
    const batches: number[][] = []
    const double = batch(async (items: number[]) => {
      batches.push(items)
      return items.map((n) => n * 2)
    })
    expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6])
    expect(await double(4)).toBe(8)
    expect(batches).toEqual([[1, 2, 3], [4]])
  })

  it('collects the items that arrive while a batch runs', async () => {
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

  it('keeps a batch small enough for one SQL statement', async () => {
    const sizes: number[] = []
    const run = batch(async (items: number[]) => {
      sizes.push(items.length)
      return items
    })
    const numbers = Array.from({ length: 1200 }, (_, i) => i)
    expect(await Promise.all(numbers.map(run))).toEqual(numbers)
    expect(sizes).toEqual([500, 500, 200])
  })

  it('rejects for every item of a batch that fails, and for none of the next', async () => {
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
