import type { Database } from '@svc/database/open'
import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { beforeEach, expect, it } from 'vitest'
import { createRateLimiter, type RateLimiter } from '../../src/guard/rate-limiter.ts'
import { deletePastTats, type RateTables, setTats } from '../../src/guard/rate-store.ts'
import { countAdmitted, rateMigrations } from './rate-tables.ts'

forEachDatabaseInGate('the stored rate limits', (database) => {
  let opened: Database<RateTables>
  beforeEach(async () => {
    opened = await database.open<RateTables>(rateMigrations)
    await writable(opened.db).deleteFrom('rate_limits').execute()
  })

  const all = () => opened.db.selectFrom('rate_limits').selectAll().orderBy('key').execute()

  it('T-10 are deleted once they have expired, in any number', async () => {
    const keys = Array.from({ length: 2500 }, (_, i) => `${i}`.padStart(32, '0'))
    await opened.commit((tx) => setTats(tx, new Map(keys.map((key, i) => [key, i]))))
    await deletePastTats(opened.db, opened.commit, 2397)
    expect(await all()).toEqual(keys.slice(2398).map((key, i) => ({ key, tat: 2398 + i })))
    await deletePastTats(opened.db, opened.commit, 5000)
    expect(await all()).toEqual([])
    await deletePastTats(opened.db, opened.commit, 5000)
  })

  it('T-10 admit the same after rows were deleted', async () => {
    let time = 1_800_000_000_000
    const limiter = createRateLimiter({ database: opened, now: () => time })
    const takes = (key: string, count: number) =>
      countAdmitted(Array.from({ length: count }, () => limiter.take({ key, perMinute: 60 })))
    await takes('used', 60)
    time += 30_000
    await takes('new', 1)
    await limiter.forget()
    expect(await all()).toHaveLength(2)
    expect(await takes('used', 60)).toBe(30)
    time += 60_000
    await limiter.forget()
    expect(await all()).toEqual([])
    expect(await takes('used', 100)).toBe(60)
  })

  it('T-10 do not deadlock when two replicas take the same keys in opposite orders while rows are deleted', async () => {
    const asks = Array.from({ length: 50 }, (_, i) => ({ key: `key ${i}`, perMinute: 60 }))
    let time = 1_800_000_000_000
    const [one, other] = [1, 2].map(() => createRateLimiter({ database: opened, now: () => time })) as [
      RateLimiter,
      RateLimiter,
    ]
    for (let round = 0; round < 50; round++) {
      await Promise.all([one.forget(), one.take(...asks), other.forget(), other.take(...asks.toReversed())])
      expect(new Set((await all()).map(({ tat }) => tat - time))).toEqual(new Set([2000]))
      time += 2000
    }
  })
})
