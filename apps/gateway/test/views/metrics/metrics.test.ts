import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { buy, openMarket } from '@svc/devnet/services/market'
import { ed25519Identity } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { expect, it } from 'vitest'
import { publishNewest } from '../../../src/publication/push.ts'
import { queueToAttest } from '../../evidence/attest.ts'
import { type Scrape, scrape } from './scrape.ts'

/** Longer than any cache lives. */
const LATER = 3600

forEachDatabase('metrics', (database) => {
  const market = forAllTests(() => openMarket())
  const shop = forAllTests(() => market.open({ DATABASE_URL: database.url, PUBLISH: 'on_request' }))

  const read = (): Promise<Scrape> => {
    market.clock.advance(LATER)
    return scrape(shop.gateway.url)
  }

  /** How much each value grows while the work is done. */
  async function growth(samples: Record<string, [name: string, labels?: Record<string, string>]>, work: () => unknown) {
    const before = await read()
    await work()
    const after = await read()
    const grown = Object.entries(samples).map(([key, [name, labels]]) => {
      return [key, (after.value(name, labels) ?? 0) - (before.value(name, labels) ?? 0)]
    })
    return Object.fromEntries(grown) as Record<string, number>
  }

  it('shows the process, its event loop and its requests', async () => {
    const { families, value } = await read()
    expect(families).toEqual(
      expect.arrayContaining([
        'process_cpu_seconds_total',
        'nodejs_eventloop_lag_p99_seconds',
        'nodejs_gc_duration_seconds',
      ]),
    )
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6)
    expect(value('svc_database_read_timestamp_seconds')).toBe(Math.floor(market.clock.now() / 1000))
  })

  it('T-89 counts rate-limited requests', async () => {
    const { metrics } = shop.gateway.context
    const grown = await growth({ shed: ['svc_http_requests_shed_total'] }, () => metrics.countShed())
    expect(grown).toEqual({ shed: 1 })
  })

  it('counts a purchase as a receipt and its payment in atomic units', async () => {
    let paid = 0
    const grown = await growth(
      {
        receipts: ['svc_receipts_total'],
        lockers: ['svc_lockers_total'],
        sol: ['svc_payments_received_total', { network: 'primary-mainnet', asset: 'SOL' }],
        usdc: ['svc_payments_received_total', { network: 'primary-mainnet', asset: 'USDC' }],
      },
      async () => {
        for (let i = 0; i < 2; i++) paid += Number((await buy(market, shop)).quote.accepts[0]?.amount)
      },
    )
    expect(grown).toEqual({ receipts: 2, lockers: 0, sol: paid, usdc: 0 })
    expect(paid).toBeGreaterThan(0)
  })

  it('counts a locker and its objects in the states writing, held and released', async () => {
    const samples = {
      lockers: ['svc_lockers_total'],
      writing: ['svc_objects', { state: 'writing' }],
      held: ['svc_objects', { state: 'held' }],
      released: ['svc_objects', { state: 'released' }],
    } satisfies Parameters<typeof growth>[0]
    const grown = await growth(samples, async () => {
      const locker = await shop.locker(ed25519Identity())
      await locker.put('a', 'a')
      await locker.put('b', 'b')
      await locker.put('b', 'again')
      const since = Math.floor(market.clock.now() / 1000)
      const object = { object_id: 'o1', provider: 'gcs', state: 'writing', since, locker_id: null } as const
      await shop.gateway.context.announceObject(object)
    })
    expect(grown).toEqual({ lockers: 1, writing: 1, held: 2, released: 1 })
  })

  it('INT-07 shows an attestation being published: job, status, age, anchor, fee and balance', async () => {
    const locker = await shop.locker(ed25519Identity())
    await locker.put('a', 'a')
    const samples = {
      waiting: ['svc_jobs', { kind: 'attest', state: 'waiting' }],
      pending: ['svc_attestations', { status: 'pending' }],
      computed: ['svc_attestations', { status: 'computed' }],
      complete: ['svc_attestations', { status: 'complete' }],
      age: ['svc_attestation_oldest_nonfinal_age_seconds'],
      landed: ['svc_publications', { state: 'landed' }],
      fee: ['svc_anchor_fee_lamports_total'],
      rent: ['svc_anchor_rent_lamports'],
      balance: ['svc_publication_balance_lamports'],
    } satisfies Parameters<typeof growth>[0]
    const none = Object.fromEntries(Object.keys(samples).map((key) => [key, 0]))
    const queued = await growth(samples, () => queueToAttest(shop, locker))
    expect(queued).toEqual({ ...none, waiting: 1, pending: 1, age: LATER })
    const { context } = shop.gateway
    const computed = await growth(samples, async () => {
      while ((await context.queue.counts()).attest?.waiting) await context.queue.drain()
    })
    // Each scrape is an hour after the previous one; a new status starts again at zero.
    expect(computed).toEqual({ ...none, waiting: -1, pending: -1, computed: 1, age: -LATER })
    const published = await growth(samples, () => publishNewest(shop.gateway.context, locker.receiptId))
    expect(published).toEqual({
      ...none,
      computed: -1,
      complete: 1,
      age: -2 * LATER,
      landed: 1,
      fee: 5000,
      balance: -5000,
    })
  })

  it('counts a job that can never succeed as a dead letter', async () => {
    const { queue, database: opened } = shop.gateway.context
    const samples = {
      dead: ['svc_dead_letters', { kind: 'attest' }],
      waiting: ['svc_jobs', { kind: 'attest', state: 'waiting' }],
      delayed: ['svc_jobs', { kind: 'attest', state: 'delayed' }],
    } satisfies Parameters<typeof growth>[0]
    const grown = await growth(samples, async () => {
      const job = { receipt_id: `rcpt_${'0'.repeat(32)}` }
      await writable(opened.db)
        .transaction()
        .execute((tx) => queue.enqueue(tx, 'attest', job))
      await queue.drain()
    })
    expect(grown).toEqual({ dead: 1, waiting: 0, delayed: 0 })
    const delayed = await growth(samples, () =>
      writable(opened.db)
        .transaction()
        .execute(async (tx) => {
          const delaySeconds = 100 * LATER
          await queue.enqueue(tx, 'attest', { receipt_id: 'rcpt_x' }, { delaySeconds })
        }),
    )
    expect(delayed).toEqual({ dead: 0, waiting: 0, delayed: 1 })
  })
})
