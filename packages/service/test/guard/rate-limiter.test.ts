import type { Database } from '@svc/database/open'
import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { createRateLimiter, type RateLimiter } from '../../src/guard/rate-limiter.ts'
import type { RateTables } from '../../src/guard/rate-store.ts'
import { countAdmitted, rateMigrations, refusalOf } from './rate-tables.ts'

const START = 1_800_000_000_000

forEachDatabaseInGate('a rate limiter', (database) => {
  let opened: Database<RateTables>
  let time: number
  let limiter: RateLimiter
  let key: string
  let keys = 0
  beforeAll(async () => {
    opened = await database.open<RateTables>(rateMigrations)
  })
  beforeEach(() => {
    time = START
    limiter = newLimiter()
    key = `key ${keys++}`
  })

  const newLimiter = () => createRateLimiter({ database: opened, now: () => time })
  const takes = (count: number, perMinute: number, of = limiter) =>
    Array.from({ length: count }, () => of.take({ key, perMinute }))
  const retryAfter = async (take: Promise<void>) => Number((await refusalOf(take)).headers['retry-after'])

  it('T-10 admits exactly the limit when a thousand calls reach two replicas at once, ten times over', async () => {
    const other = newLimiter()
    for (let round = 0; round < 10; round++) {
      key = `crowded ${round}`
      expect(await countAdmitted([...takes(500, 100), ...takes(500, 100, other)])).toBe(100)
      expect(await countAdmitted(takes(10, 100, newLimiter()))).toBe(0)
    }
  })

  it.each([1, 7, 60, 100, 1000, 70_000])('T-10 sends an exact Retry-After at %i a minute', async (perMinute) => {
    await limiter.take({ key, perMinute, cost: perMinute })
    for (const cost of new Set([1, Math.ceil(perMinute / 3), perMinute])) {
      time = START
      const wait = await retryAfter(limiter.take({ key, perMinute, cost }))
      expect(wait).toBe(Math.max(1, Math.ceil((cost * Math.ceil(60_000 / perMinute)) / 1000)))
      time = START + (wait - 1) * 1000
      expect(await retryAfter(newLimiter().take({ key, perMinute, cost }))).toBe(1)
    }
    time += 1000
    await limiter.take({ key, perMinute, cost: perMinute })
  })

  it('T-10 reports the limit and the wait, and nothing about the key', async () => {
    await limiter.take({ key, perMinute: 2, cost: 2 })
    const refusal = await refusalOf(limiter.take({ key, perMinute: 2 }))
    expect(refusal.status).toBe(429)
    expect(refusal.headers).toEqual({ 'retry-after': '30' })
    expect(refusal.body('r')).toEqual({
      error: 'RATE_LIMITED',
      message: 'the limit of 2 a minute is used up',
      hint: 'try again in 30 s',
      details: { limit_per_minute: 2, retry_after_seconds: 30 },
      request_id: 'r',
    })
  })

  it('T-10 takes from all keys or from none, and reports the longest wait', async () => {
    const small = { key: `${key} small`, perMinute: 3 }
    const large = { key: `${key} large`, perMinute: 6 }
    const both = Array.from({ length: 5 }, () => limiter.take(large, small))
    expect(await countAdmitted(both)).toBe(3)
    expect(await retryAfter(limiter.take(large, small))).toBe(20)
    expect(await countAdmitted(Array.from({ length: 5 }, () => limiter.take(large)))).toBe(3)
    expect(await retryAfter(limiter.take(large))).toBe(10)
    expect(await retryAfter(newLimiter().take(large, small))).toBe(20)
  })

  it('T-10 counts a key twice when one call asks for it twice', async () => {
    const ask = { key, perMinute: 3 }
    await limiter.take(ask, ask)
    expect(await retryAfter(limiter.take(ask, ask))).toBe(20)
    await limiter.take(ask)
    expect(await retryAfter(limiter.take(ask))).toBe(20)
  })

  it('LIM-11 takes the cost of a call, and admits a small cost where a large one is over the limit', async () => {
    const cost = (cost: number) => ({ key, perMinute: 100, cost })
    await limiter.take(cost(40))
    await limiter.take(cost(40))
    expect(await retryAfter(limiter.take(cost(40)))).toBe(12)
    await limiter.take(cost(20))
    expect(await countAdmitted(takes(1, 100))).toBe(0)
  })

  it('T-10 rejects a cost above the limit permanently, and takes nothing', async () => {
    const other = { key: `${key} other`, perMinute: 1 }
    const refusal = await refusalOf(limiter.take(other, { key, perMinute: 10, cost: 11 }))
    expect(refusal.code).toBe('RATE_LIMITED')
    expect(refusal.message).toContain('counts as 11, which exceeds the limit of 10')
    expect(refusal.body('r')).toMatchObject({
      hint: 'request at most 10 at once',
      details: { limit_per_minute: 10, cost: 11 },
    })
    expect(refusal.headers).toEqual({})
    await limiter.take(other, { key, perMinute: 10, cost: 10 })
  })

  it.each([{ perMinute: -1 }, { perMinute: 0.5 }, { perMinute: 10, cost: -1 }, { perMinute: 10, cost: Number.NaN }])(
    'T-10 rejects the cost %j',
    async (ask) => {
      await expect(limiter.take({ key, ...ask })).rejects.toThrow(RangeError)
    },
  )

  it('T-10 admits again within two minutes when the clock is set back a little, and immediately when it is set back far', async () => {
    expect(await countAdmitted(takes(100, 60))).toBe(60)
    time -= 50_000
    const wait = await retryAfter(limiter.take({ key, perMinute: 60 }))
    expect(wait).toBe(51)
    time += wait * 1000
    expect(await countAdmitted(takes(2, 60))).toBe(1)
    time -= 3_600_000
    expect(await countAdmitted(takes(100, 60))).toBe(60)
    expect(await retryAfter(limiter.take({ key, perMinute: 60 }))).toBe(1)
  })

  it('T-10 applies a changed limit of a key from the next call on', async () => {
    expect(await countAdmitted(takes(60, 60))).toBe(60)
    time += 30_000
    expect(await countAdmitted(takes(100, 120))).toBe(60)
    expect(await countAdmitted(takes(1, 10))).toBe(0)
    time += 6000
    expect(await countAdmitted(takes(2, 10))).toBe(1)
  })

  it('T-12 stores keys only as hashes', async () => {
    await limiter.take({ key: 'confirm:rcpt_secret', perMinute: 5 })
    const rows = await opened.db.selectFrom('rate_limits').select('key').execute()
    for (const row of rows) expect(row.key).toMatch(/^[0-9a-f]{32}$/)
  })
})
