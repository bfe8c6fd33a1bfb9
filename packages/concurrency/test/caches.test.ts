import { describe, expect, it } from 'vitest'
import { freshInProportion, lru, refreshing } from '../src/caches.ts'

describe('lru', () => {
  it('keeps the most recently used values, up to its capacity', () => {
    const cache = lru<string, number>(2)
    cache.set('a', 1)
    cache.set('b', 2)
    expect(cache.get('a')).toBe(1)
    cache.set('c', 3)
    expect(['a', 'b', 'c'].map(cache.get)).toEqual([1, undefined, 3])
  })

  it('counts a key that is set twice once, and as the most recently used', () => {
    const cache = lru<string, number>(2)
    cache.set('a', 1)
    cache.set('b', 2)
    cache.set('a', 3)
    cache.set('c', 4)
    expect(['a', 'b', 'c'].map(cache.get)).toEqual([3, undefined, 4])
  })

  it('limits the total weight, and stores no value that is heavier than its capacity', () => {
    const cache = lru<string, string>(5, (text) => text.length)
    cache.set('a', 'xx')
    cache.set('b', 'xx')
    cache.set('c', 'xxx')
    expect(['a', 'b', 'c'].map(cache.get)).toEqual([undefined, 'xx', 'xxx'])
    cache.set('d', 'xxxxxx')
    expect(['b', 'c', 'd'].map(cache.get)).toEqual([undefined, undefined, undefined])
    cache.set('e', 'xxxxx')
    expect(cache.get('e')).toBe('xxxxx')
  })
})

/** The test resolves each load itself. */
function setUp({ waitMs = 60_000 } = {}) {
  const loads: PromiseWithResolvers<string | null>[] = []
  let time = 0
  const get = refreshing({
    load() {
      const load = Promise.withResolvers<string | null>()
      loads.push(load)
      return load.promise
    },
    freshMs: () => 1000,
    waitMs,
    now: () => time,
  })
  return {
    get,
    loads,
    moveTo(ms: number) {
      time = ms
    },
  }
}

describe('refreshing', () => {
  it('loads once for all callers that ask at the same time', async () => {
    const { get, loads } = setUp()
    const values = Promise.all(Array.from({ length: 100 }, get))
    loads[0]?.resolve('value')
    expect(new Set(await values)).toEqual(new Set(['value']))
    expect(loads).toHaveLength(1)
  })

  it('loads again when the value is no longer fresh, and when the clock is set back', async () => {
    const { get, loads, moveTo } = setUp()
    const first = get()
    loads[0]?.resolve('first')
    await first
    moveTo(999)
    expect(await get()).toBe('first')
    moveTo(1000)
    const second = get()
    loads[1]?.resolve('second')
    expect(await second).toBe('second')
    moveTo(-1)
    const third = get()
    loads[2]?.resolve('third')
    expect(await third).toBe('third')
    expect(loads).toHaveLength(3)
  })

  it('counts freshness from the end of a load, and never runs two loads at once', async () => {
    const { get, loads, moveTo } = setUp()
    const first = get()
    moveTo(5000)
    const second = get()
    loads[0]?.resolve('late')
    expect(await Promise.all([first, second])).toEqual(['late', 'late'])
    expect(await get()).toBe('late')
    expect(loads).toHaveLength(1)
  })

  it('caches null as long as any other value', async () => {
    const { get, loads } = setUp()
    const first = get()
    loads[0]?.resolve(null)
    expect(await first).toBeNull()
    expect(await get()).toBeNull()
    expect(loads).toHaveLength(1)
  })

  it('returns the previous value to a caller that waited long enough', async () => {
    const { get, loads, moveTo } = setUp({ waitMs: 1 })
    expect(await get()).toBeNull()
    loads[0]?.resolve('first')
    await expect.poll(get).toBe('first')
    moveTo(1000)
    expect(await get()).toBe('first')
    expect(await get()).toBe('first')
    loads[1]?.resolve('second')
    await expect.poll(get).toBe('second')
    expect(loads).toHaveLength(2)
  })

  it('treats a value as fresh for longer when it took longer to load', () => {
    expect([0, 250, 251, 3000].map(freshInProportion)).toEqual([5000, 5000, 5020, 60_000])
  })
})
