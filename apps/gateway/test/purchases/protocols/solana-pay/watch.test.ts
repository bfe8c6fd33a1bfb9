import type { FoundPayment, WatchedPayment } from '@svc/api/payment'
import type { Quote } from '@svc/api/purchases'
import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import { honestly, startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { expectError, legOf, openMarket, payReqId } from '@svc/devnet/services/market'
import type { TestGateway } from '@svc/devnet/services/test-gateway'
import { paySolanaPayUrl } from '@svc/devnet/solana-pay-wallet'
import { writable } from '@svc/devnet/writable'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ADMIN, expectReturned, unclaimedOf } from '../../unclaimed/unclaimed.ts'

const market = forAllTests(() => openMarket())
const node = forAllTests(() => startFaultyNode(market.chains.primary.url))
beforeEach(() => node.behave(honestly))

const watch = (shop: TestGateway, quote: Quote) =>
  shop.send<WatchedPayment>('POST', '/v1/storage/payment/watch', { pay_req_id: payReqId(quote) })
const find = async (shop: TestGateway, quote: Quote) =>
  (await shop.send<FoundPayment>('POST', '/v1/storage/payment/find', { pay_req_id: payReqId(quote) })).body
const urlOf = (quote: Quote, ticker = 'SOL') => legOf(quote, ticker).extra.solana_pay!.url
const pay = (url: string, payer = 0) => paySolanaPayUrl(market.chains.primary.url, DEMO_PAYERS[payer]!, url)

/** Advances the clock and runs the search for payments, `times` times. */
async function runSearches({ gateway }: TestGateway, times = 1, seconds = 60): Promise<void> {
  for (let i = 0; i < times; i++) {
    market.clock.advance(seconds)
    await gateway.context.queue.drain()
  }
}

const dbOf = ({ gateway }: TestGateway) => gateway.context.database.db
const receiptsOf = (shop: TestGateway, quote: Quote) =>
  dbOf(shop).selectFrom('receipts').select(['tx', 'payer']).where('pay_req_id', '=', payReqId(quote)).execute()
const callsTo = (method: string) => node.calls.filter((call) => call === method).length

describe.each(['sqlite', 'postgres'] as const)('the watch for payments (%s)', (dialect) => {
  let database: FreshDatabase
  let shop: TestGateway
  beforeAll(async () => {
    database = await createFreshDatabase(dialect)
    shop = await market.open({ DATABASE_URL: database.url, PRIMARY_RPC_URLS: node.url })
  })
  afterAll(async () => {
    await shop.close()
    await database.drop()
  })

  it.each(['SOL', 'USDC', 'WETH'])(
    'ADD-49 T-66 a stock wallet pays %s by the code, and the receipt is written before anyone asks for it',
    { tags: ['nightly'] },
    async (ticker) => {
      const quote = await shop.quote()
      const { status, body } = await watch(shop, quote)
      expect([status, Date.parse(body.watched_until!)]).toEqual([
        200,
        Date.parse(quote.extensions.svc.info.expires_at) + 600_000,
      ])
      expect((await watch(shop, quote)).body).toEqual(body)
      await runSearches(shop, 2)
      expect(await receiptsOf(shop, quote)).toEqual([])
      const tx = await pay(urlOf(quote, ticker))
      await runSearches(shop)
      expect(await receiptsOf(shop, quote)).toEqual([{ tx, payer: DEMO_PAYERS[0]!.address }])
      node.calls.length = 0
      const { payment } = await find(shop, quote)
      expect(payment).toEqual({ tx, pay_network: 'primary-mainnet', pay_asset: ticker })
      expect(node.calls).toEqual([])
      const confirmed = await shop.confirm({ pay_req_id: payReqId(quote), ...payment }, tx)
      expect([confirmed.status, confirmed.body.idempotent, confirmed.body.receipt.tx_hash]).toEqual([200, true, tx])
      expect((await watch(shop, await shop.quote())).body.watched_until).not.toBeNull()
    },
  )

  it('T-66 a payment in the last second is found after a restart, and the watch ends', async () => {
    const quote = await shop.quote()
    await watch(shop, quote)
    market.clock.advance(300)
    const tx = await pay(urlOf(quote))
    await shop.close()
    shop = await market.open({ DATABASE_URL: database.url, PRIMARY_RPC_URLS: node.url })
    await runSearches(shop)
    expect(await receiptsOf(shop, quote)).toMatchObject([{ tx }])
    await runSearches(shop, 1, 900)
    expect(await dbOf(shop).selectFrom('watched_quotes').selectAll().execute()).toEqual([])
    node.calls.length = 0
    await runSearches(shop, 3)
    expect(callsTo('getSignaturesForAddress')).toBe(0)
  })

  it('T-66 transactions that name the reference without paying are read once each and hide no payment', {
    tags: ['nightly'],
  }, async () => {
    const [quote, foreign] = [await shop.quote(), await shop.quote()]
    await watch(shop, quote)
    const url = urlOf(quote)
    const reference = new URL(url).searchParams.get('reference')!
    for (let i = 0; i < 12; i++) await pay(url.replace(/amount=[^&]+/, 'amount=0.000001'), 1)
    const ofForeign = await pay(urlOf(foreign).replace(/reference=[^&]+/, `reference=${reference}`), 2)
    const tx = await pay(url)
    await runSearches(shop, 4)
    expect(await receiptsOf(shop, quote)).toMatchObject([{ tx }])
    expect(await receiptsOf(shop, foreign)).toEqual([])
    expect((await shop.confirm({ pay_req_id: payReqId(foreign) }, ofForeign)).status).toBe(200)
  })

  it('T-66 an unwatched payment is found among many transactions that only name its reference', {
    tags: ['nightly'],
  }, async () => {
    const quote = await shop.quote()
    const url = urlOf(quote)
    const spam = async (count: number) => {
      for (let i = 0; i < count; i++) await pay(url.replace(/amount=[^&]+/, 'amount=0.000001'), 1)
    }
    await spam(12)
    expect(await find(shop, quote)).toEqual({ payment: null })
    const tx = await pay(url)
    await spam(25)
    node.calls.length = 0
    expect((await find(shop, quote)).payment).toMatchObject({ tx, pay_asset: 'SOL' })
    // For each leg, two transactions that do not pay and the payment; those of the first call are not read again.
    const legs = quote.accepts.filter(({ network }) => network.startsWith('solana:')).length
    expect(callsTo('getTransaction')).toBeLessThanOrEqual(3 * legs)
    expect((await find(shop, quote)).payment).toMatchObject({ tx })
  })
})

it('T-66 two replicas search once for a quote and write one receipt', { tags: ['nightly'] }, async () => {
  const database = await createFreshDatabase('postgres')
  const open = () => market.open({ DATABASE_URL: database.url, PRIMARY_RPC_URLS: node.url })
  const [shop, other] = [await open(), await open()]
  const quote = await shop.quote()
  await watch(shop, quote)
  const tx = await pay(urlOf(quote))
  market.clock.advance(60)
  node.calls.length = 0
  await Promise.all([shop, other].map(({ gateway }) => gateway.context.queue.drain()))
  expect(await receiptsOf(shop, quote)).toMatchObject([{ tx }])
  expect(callsTo('getSignaturesForAddress')).toBe(1)
  for (const one of [shop, other]) await one.close()
  await database.drop()
})

describe('nodes that fail', () => {
  let shop: TestGateway
  beforeAll(async () => {
    shop = await market.open({ PRIMARY_RPC_URLS: node.url })
  })

  it.each([
    ['answers with errors', () => ({ status: 500, body: 'oops' })],
    ['lists transactions that are not there', withResult('getSignaturesForAddress', () => [listed('5'.repeat(87))])],
    ['hides transactions', withResult('getTransaction', () => null)],
  ])('T-66 nothing is decided while a node %s, and the payment is found afterwards', async (_, behaviour) => {
    const quote = await shop.quote()
    await watch(shop, quote)
    const tx = await pay(urlOf(quote))
    node.behave(behaviour)
    await runSearches(shop)
    expect(await receiptsOf(shop, quote)).toEqual([])
    node.behave(honestly)
    await runSearches(shop)
    expect(await receiptsOf(shop, quote)).toMatchObject([{ tx }])
  })

  it('T-66 a node that never answers delays one round of searches, and not each quote in turn', {
    tags: ['nightly'],
  }, async () => {
    const quotes = [await shop.quote(), await shop.quote(), await shop.quote()]
    for (const quote of quotes) await watch(shop, quote)
    // The first search verifies the chain of the node.
    await runSearches(shop)
    const txs = [await pay(urlOf(quotes[0]!)), await pay(urlOf(quotes[1]!), 1), await pay(urlOf(quotes[2]!), 2)]
    node.behave(() => null)
    node.calls.length = 0
    market.clock.advance(60)
    const search = shop.gateway.context.queue.drain()
    // The node is asked about all quotes before the first call times out.
    await expect.poll(() => callsTo('getSignaturesForAddress')).toBe(3)
    await search
    node.behave(honestly)
    await runSearches(shop)
    expect((await Promise.all(quotes.map((quote) => receiptsOf(shop, quote)))).flat().map(({ tx }) => tx)).toEqual(txs)
  })

  const listed = (signature: string) => ({ signature, slot: 1, err: null, memo: null, blockTime: 1 })
})

describe('limits on watched quotes', () => {
  it('T-66 thousands of watched quotes stay within the budget of calls and wait longer', {
    tags: ['nightly'],
  }, async () => {
    const shop = await market.open({
      PRIMARY_RPC_URLS: node.url,
      PAYMENT_WATCH: 'calls_per_minute=120,quotes=5000',
    })
    const db = dbOf(shop)
    const now = Math.floor(market.clock.now() / 1000)
    const rows = Array.from({ length: 3000 }, (_, i) => ({
      pay_req_id: `pr_${String(i).padStart(32, '0')}`,
      watched_at: now,
      watched_until: now + 900,
      due_at: now,
      looked_at: null,
      passed_tx: null,
      tx: null,
      asset: null,
    }))
    // Every watched quote exists, so that each is searched for.
    const quote = await shop.quote()
    const stored = await db
      .selectFrom('pay_requests')
      .selectAll()
      .where('pay_req_id', '=', payReqId(quote))
      .executeTakeFirstOrThrow()
    for (let i = 0; i < rows.length; i += 500) {
      const some = rows.slice(i, i + 500)
      await writable(db)
        .insertInto('pay_requests')
        .values(some.map(({ pay_req_id }) => ({ ...stored, pay_req_id })))
        .execute()
      await writable(db).insertInto('watched_quotes').values(some).execute()
    }
    node.calls.length = 0
    await runSearches(shop, 60, 1)
    // One minute allows the burst of a full budget and what it regains meanwhile.
    const asked = callsTo('getSignaturesForAddress')
    expect(asked).toBeGreaterThan(100)
    expect(asked).toBeLessThanOrEqual(120)
    const metrics = await (await fetch(`${shop.gateway.url}/metrics`)).text()
    expect(metrics).toMatch(/^svc_watched_quotes 3000$/m)
    expect(Number(/^svc_watched_quotes_overdue_seconds (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(50)
    await shop.close()
  })

  it('T-66 one address gets a share of the watches, all addresses share the limit, and find still searches', {
    tags: ['nightly'],
  }, async () => {
    const shop = await market.open({ PRIMARY_RPC_URLS: node.url, PAYMENT_WATCH: 'quotes=3' })
    const quotes = [await shop.quote(), await shop.quote(), await shop.quote(), await shop.quote(), await shop.quote()]
    const watched: boolean[] = []
    for (const quote of quotes) {
      watched.push((await watch(shop, quote)).body.watched_until !== null)
      watched.push((await watch(shop, await shop.quote())).body.watched_until !== null)
      market.clock.advance(60)
    }
    expect(watched).toEqual([true, false, true, false, true, false, false, false, false, false])
    const tx = await pay(urlOf(quotes[4]!))
    expect((await find(shop, quotes[4]!)).payment?.tx).toBe(tx)
    await shop.close()
  })

  it('T-66 a quote that is paid, unknown, expired or on another chain is not watched, nor any quote when the watch is off', {
    tags: ['nightly'],
  }, async () => {
    const shop = await market.open({ PRIMARY_RPC_URLS: node.url })
    const off = await market.open({ PRIMARY_RPC_URLS: node.url, PAYMENT_WATCH: 'calls_per_minute=0' })
    const paid = await shop.quote()
    const tx = await market.pay(paid.accepts[0]!)
    await shop.confirm({ pay_req_id: payReqId(paid) }, tx)
    expect((await watch(shop, paid)).body).toEqual({ watched_until: null })
    expect(
      (await watch(shop, await shop.quote({ units: 1, pay_network: 'evm-mainnet' }))).body.watched_until,
    ).toBeNull()
    expect((await watch(off, await off.quote())).body).toEqual({ watched_until: null })
    const post = (body: unknown) => shop.send('POST', '/v1/storage/payment/watch', body)
    expectError(await post({ pay_req_id: 'pr_nobody' }), 404, 'pay_req_not_found')
    expectError(await post({ pay_req_id: 'x'.repeat(101) }), 422, 'validation_error')
    const expired = await shop.quote()
    market.clock.advance(301)
    expectError(await watch(shop, expired), 410, 'quote_expired')
    // A payment without the reference is not revealed to a caller who knows only the quote (ADD-13).
    expect(await find(shop, paid)).toEqual({ payment: null })
  })
})

describe('a code that is paid twice', () => {
  it('T-205 T-66 gets one receipt, even after a fork, and the second payment is recorded before the watch ends', async () => {
    const shop = await market.open({ ...ADMIN, PRIMARY_RPC_URLS: node.url })
    const quote = await shop.quote()
    const payReqIdOf = payReqId(quote)
    await watch(shop, quote)
    const paidBy = await pay(urlOf(quote))
    market.chains.primary.chain.fork()
    await runSearches(shop)
    expect(await receiptsOf(shop, quote)).toMatchObject([{ tx: paidBy }])
    const second = await pay(urlOf(quote), 1)
    node.calls.length = 0
    await runSearches(shop, 2)
    expect(callsTo('getSignaturesForAddress')).toBe(0)
    expect(await unclaimedOf(shop, payReqIdOf)).toEqual([])
    await runSearches(shop, 13)
    expect(callsTo('getSignaturesForAddress')).toBeLessThanOrEqual(2)
    await expectReturned(shop, { payReqId: payReqIdOf, paidBy, second })
    expect(await dbOf(shop).selectFrom('watched_quotes').selectAll().execute()).toEqual([])
    await shop.close()
  })
})
