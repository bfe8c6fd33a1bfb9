import type { Database } from '@svc/database/open'
import { testClock } from '@svc/devnet/clock'
import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { SettingsReader } from '@svc/service/program/config'
import { createLog } from '@svc/service/program/log'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { readRates } from '../../src/auth/rates.ts'
import { checkBudget, type Refusal, releaseSpending, spend } from '../../src/budgets/budgets.ts'
import { readBudgetConfig } from '../../src/budgets/settings.ts'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'
import { SETTINGS } from '../../src/settings.ts'

forEachDatabaseInGate('budgets', (database) => {
  let replicas: [Database<Schema>, Database<Schema>]
  const clock = testClock()
  const errors: string[] = []
  const write = (line: string) => void errors.push(line)
  const log = createLog('error', { write, writeSoon: write, flush: () => {} })
  const partsWith = (lamports: string) => {
    const settings = new SettingsReader({ SPEND_PER_DAY: `publication=0.${lamports.padStart(9, '0')}SOL` }, SETTINGS)
    const config = { budgets: readBudgetConfig(settings, readRates(settings)) }
    return { config, now: clock.now, log }
  }
  const parts = partsWith('100')

  beforeAll(async () => {
    const one = await database.openMigrated<Schema>(migrations)
    // SQLite serves one process.
    replicas = [one, database.dialect === 'sqlite' ? one : await database.openMigrated<Schema>(migrations)]
  })
  beforeEach(() => {
    errors.length = 0
    clock.advance(86_400)
  })

  const limitsOf = (who: string, count: number) => [{ who, count, seconds: 3600 }]
  const account = (who: string, count = 0) => ({ budget: 'publication', limits: limitsOf(who, count) }) as const
  let spent = 0
  const pay = (who: string, count: number, amount: number, replica = 0, by = parts): Promise<Refusal | null> =>
    replicas[replica % 2]!.commit((tx) => spend(tx, by, { ...account(who, count), tx: `tx ${spent++}`, amount }))
  const today = async () => {
    const days = await replicas[0].db.selectFrom('budget_days').selectAll().orderBy('day', 'desc').limit(1).execute()
    return days[0]
  }

  it('T-34 allows exactly the limit of concurrent transactions on two replicas', async () => {
    const outcomes = await Promise.all(Array.from({ length: 12 }, (_, i) => pay('one', 5, 1, i)))
    expect(outcomes.filter((refusal) => refusal === null)).toHaveLength(5)
    expect(await today()).toMatchObject({ amount: 5, transactions: 5, exhausted_limit: null })
    const until = Math.floor(clock.now() / 1000) + 3600
    expect(await checkBudget(replicas[1].db, parts, account('one', 5))).toEqual({ reason: 'limit_reached', until })
    expect(await pay('another', 5, 1)).toBeNull()
    clock.advance(3600)
    expect(await pay('one', 5, 1)).toBeNull()
    expect(errors).toEqual([])
  })

  it('T-34 all replicas together stay below the daily ceiling, and log that once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 12 }, (_, i) => pay(`locker ${i}`, 0, 15, i)))
    expect(outcomes.filter((refusal) => refusal === null)).toHaveLength(6)
    expect(outcomes.find((refusal) => refusal !== null)).toEqual({
      reason: 'daily_budget_used',
      until: (Math.floor(clock.now() / 86_400_000) + 1) * 86_400,
    })
    expect(await today()).toMatchObject({ amount: 90, transactions: 6, exhausted_limit: 100 })
    expect(errors).toHaveLength(1)
    expect(await checkBudget(replicas[0].db, parts, account('locker 20'))).toMatchObject({
      reason: 'daily_budget_used',
    })
    // A raised ceiling applies immediately.
    expect(await pay('locker 20', 0, 15, 0, partsWith('105'))).toBeNull()
  })

  it('T-34 a returned amount can be spent again, and is returned only once', async () => {
    const tx = `tx ${spent}`
    expect(await pay('one', 1, 60)).toBeNull()
    expect(await pay('one', 1, 1)).toMatchObject({ reason: 'limit_reached' })
    for (let i = 0; i < 2; i++) await replicas[1].commit((write) => releaseSpending(write, tx))
    expect(await today()).toMatchObject({ amount: 0, transactions: 0 })
    expect(await pay('one', 1, 100)).toBeNull()
  })

  it('T-34 a transaction on two budgets can be returned to both or to one of them', async () => {
    const [fee, deposit] = [account('one'), { budget: 'registry_rent', limits: limitsOf('deposit', 0) } as const]
    const used = async () => {
      const days = await replicas[0].db.selectFrom('budget_days').selectAll().orderBy('day', 'desc').limit(2).execute()
      return Object.fromEntries(days.map(({ budget, amount, transactions }) => [budget, [amount, transactions]]))
    }
    const both = async (tx: string) => {
      await replicas[0].commit((write) => spend(write, parts, { ...fee, tx, amount: 5 }))
      await replicas[0].commit((write) => spend(write, parts, { ...deposit, tx, amount: 300 }))
    }
    await both('kept')
    await both('expired')
    await both('failed')
    await replicas[1].commit((write) => releaseSpending(write, 'expired'))
    expect(await used()).toEqual({ publication: [10, 2], registry_rent: [600, 2] })
    for (let i = 0; i < 2; i++) await replicas[1].commit((write) => releaseSpending(write, 'failed', 'registry_rent'))
    expect(await used()).toEqual({ publication: [10, 2], registry_rent: [300, 1] })
    await replicas[1].commit((write) => releaseSpending(write, 'failed'))
    expect(await used()).toEqual({ publication: [5, 1], registry_rent: [300, 1] })
  })

  it('T-34 an account on two replicas spends at most its share of the day, and others continue', async () => {
    const limits = [{ who: 'one', count: 0, seconds: 3600, percentOfDay: 30 }]
    const share = (amount: number, replica: number) =>
      replicas[replica % 2]!.commit((tx) =>
        spend(tx, parts, { budget: 'publication', limits, tx: `tx ${spent++}`, amount }),
      )
    const outcomes = await Promise.all(Array.from({ length: 6 }, (_, i) => share(10, i)))
    expect(outcomes.filter((refusal) => refusal === null)).toHaveLength(3)
    const until = (Math.floor(clock.now() / 86_400_000) + 1) * 86_400
    expect(outcomes.find((refusal) => refusal !== null)).toEqual({ reason: 'limit_reached', until })
    expect(await pay('another', 0, 10)).toBeNull()
    expect(errors).toEqual([])
    clock.advance(86_400)
    expect(await share(90, 0), 'the first amount is always allowed').toBeNull()
    expect(await share(1, 1)).toMatchObject({ reason: 'limit_reached' })
  })
})
