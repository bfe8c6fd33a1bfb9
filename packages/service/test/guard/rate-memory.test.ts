import type { Database } from '@svc/database/open'
import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { beforeEach, expect, it } from 'vitest'
import { createRateLimiter, type RateLimiter } from '../../src/guard/rate-limiter.ts'
import type { RateTables } from '../../src/guard/rate-store.ts'
import { countAdmitted, rateMigrations, refusalOf } from './rate-tables.ts'

forEachDatabaseInGate('a rate limiter without its database', (database) => {
  let opened: Database<RateTables>
  let time: number
  let limiter: RateLimiter
  beforeEach(async () => {
    opened = await database.open<RateTables>(rateMigrations)
    time = 1_800_000_000_000
    limiter = createRateLimiter({ database: opened, now: () => time })
  })

  const breakDatabase = () => writable(opened.db).schema.alterTable('rate_limits').renameTo('gone').execute()
  const repairDatabase = () => writable(opened.db).schema.alterTable('gone').renameTo('rate_limits').execute()

  it('T-10 still rejects a key that it knows to be over the limit, until the limit is available again', async () => {
    const ask = { key: 'known', perMinute: 60 }
    await limiter.take({ ...ask, cost: 60 })
    await refusalOf(limiter.take(ask))
    await breakDatabase()
    expect((await refusalOf(limiter.take(ask))).headers).toEqual({ 'retry-after': '1' })
    await expect(limiter.take({ key: 'another', perMinute: 60 })).rejects.toThrow('rate_limits')
    time += 1000
    await expect(limiter.take(ask)).rejects.toThrow('rate_limits')
    await repairDatabase()
    await limiter.take(ask)
    expect((await refusalOf(limiter.take(ask))).code).toBe('RATE_LIMITED')
  })

  it('T-10 admits no caller, and counts and caches nothing', async () => {
    await breakDatabase()
    const takes = Array.from({ length: 20 }, () => limiter.take({ key: 'unlucky', perMinute: 10 }))
    const outcomes = await Promise.allSettled(takes)
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining('rate_limits') } })
    }
    await repairDatabase()
    const again = Array.from({ length: 20 }, () => limiter.take({ key: 'unlucky', perMinute: 10 }))
    expect(await countAdmitted(again)).toBe(10)
  })

  it('T-10 admits everything under a limit of 0, without a query', async () => {
    await breakDatabase()
    await limiter.take()
    await limiter.take({ key: 'free', perMinute: 0 }, { key: 'free', perMinute: 0, cost: 1_000_000 })
    await repairDatabase()
    expect(await opened.db.selectFrom('rate_limits').select('key').where('key', '=', 'free').execute()).toEqual([])
  })

  it('T-11 caches at most ten thousand exhausted keys, the most recently used ones', {
    tags: ['nightly'],
  }, async () => {
    const ask = (name: number) => ({ key: `of many ${name}`, perMinute: 1 })
    const exhaust = (names: number[]) =>
      countAdmitted(names.flatMap((n) => [limiter.take(ask(n)), limiter.take(ask(n))]))
    const names = Array.from({ length: 10_000 }, (_, name) => name)
    expect(await exhaust(names)).toBe(10_000)
    await refusalOf(limiter.take(ask(0)))
    expect(await exhaust([10_000])).toBe(1)
    await breakDatabase()
    for (const name of [0, 2, 9999, 10_000]) {
      expect((await refusalOf(limiter.take(ask(name)))).code).toBe('RATE_LIMITED')
    }
    await expect(limiter.take(ask(1))).rejects.toThrow('rate_limits')
    await repairDatabase()
  })
})
