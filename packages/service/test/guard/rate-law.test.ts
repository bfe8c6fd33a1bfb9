import { forEachDatabaseInGate } from '@svc/devnet/databases'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createRateLimiter } from '../../src/guard/rate-limiter.ts'
import type { RateTables } from '../../src/guard/rate-store.ts'
import { admitted, rateMigrations } from './rate-tables.ts'

const LIMITS = { a: 10, b: 6, c: 1 }
type Name = keyof typeof LIMITS
type Call = { name: Name; cost: number }[]

const ask = fc
  .constantFrom<Name[]>('a', 'b', 'c')
  .chain((name) => fc.record({ name: fc.constant(name), cost: fc.integer({ min: 1, max: LIMITS[name] }) }))
const call = fc.uniqueArray(ask, { minLength: 1, selector: ({ name }) => name })
const turn = fc.record({ laterMs: fc.integer({ min: 0, max: 70_000 }), calls: fc.array(call, { maxLength: 6 }) })

/** The same rule as token buckets: how many milliseconds of its minute each key has left. */
function createBuckets() {
  const capacity = { a: 60_000, b: 60_000, c: 60_000 }
  const price = ({ name, cost }: Call[number]) => (cost * 60_000) / LIMITS[name]
  return {
    wait(ms: number) {
      for (const name of ['a', 'b', 'c'] as const) capacity[name] = Math.min(60_000, capacity[name] + ms)
    },
    take(call: Call): boolean {
      if (call.some((ask) => price(ask) > capacity[ask.name])) return false
      for (const ask of call) capacity[ask.name] -= price(ask)
      return true
    },
  }
}

forEachDatabaseInGate('a rate limiter under any load', (database) => {
  it('T-10 admits the same calls as a token bucket, on any replica', async () => {
    const opened = await database.open<RateTables>(rateMigrations)
    let time = 1_800_000_000_000
    const replicas = [1, 2].map(() => createRateLimiter({ database: opened, now: () => time }))
    const asksOf = (call: Call) => call.map(({ name, cost }) => ({ key: name, cost, perMinute: LIMITS[name] }))
    const admitsLikeBuckets = async (turns: { laterMs: number; calls: Call[] }[]) => {
      const buckets = createBuckets()
      time += 60_000
      for (const [i, { laterMs, calls }] of turns.entries()) {
        time += laterMs
        buckets.wait(laterMs)
        const takes = calls.map((call) => replicas[i % 2]!.take(...asksOf(call)))
        expect(await admitted(takes)).toEqual(calls.map(buckets.take))
      }
    }
    await fc.assert(fc.asyncProperty(fc.array(turn, { maxLength: 8 }), admitsLikeBuckets), { numRuns: 40 })
  })
})
