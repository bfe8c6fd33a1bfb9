import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectError, type Market, openMarket, payReqId, type Shop } from '../market.ts'

let market: Market
beforeAll(async () => {
  market = await openMarket()
})
afterAll(() => market.close())

describe.each([
  ['sqlite', 1],
  ['sqlite', 2],
  ['postgres', 1],
  ['postgres', 2],
] as const)('confirmations at the same time (%s, gateways: %i)', (dialect, gateways) => {
  let database: FreshDatabase
  let shops: Shop[]
  beforeAll(async () => {
    database = await createFreshDatabase(dialect)
    shops = await Promise.all(Array.from({ length: gateways }, () => market.open({ DATABASE_URL: database.url })))
  })
  afterAll(async () => {
    for (const shop of shops) await shop.stop()
    await database.drop()
  })

  /** All at once, each gateway in its turn. */
  function confirmAll(pairs: readonly (readonly [pay_req_id: string, tx: string])[]) {
    return Promise.all(pairs.map(([pay_req_id, tx], i) => shops[i % gateways]!.confirm({ pay_req_id }, tx)))
  }

  async function quoteIds(count: number, order: object): Promise<string[]> {
    return Promise.all(Array.from({ length: count }, async () => payReqId(await shops[0]!.quote(order))))
  }

  async function payUnnamed(count: number, order: object): Promise<string[]> {
    const { accepts } = await shops[0]!.quote(order)
    const txs: string[] = []
    for (let payer = 0; payer < count; payer++) txs.push(await market.pay(accepts[0]!, { memo: null, payer }))
    market.clock.advance(1)
    return txs
  }

  async function rowsOf(txs: readonly string[]) {
    const { db } = shops[0]!.gateway.context.database
    const receipts = await db.selectFrom('receipts').select(['pay_req_id', 'tx']).where('tx', 'in', txs).execute()
    const claims = await db.selectFrom('payment_transactions').select('tx').where('tx', 'in', txs).execute()
    return { receipts, claims: claims.map(({ tx }) => tx) }
  }

  it.each(['primary-mainnet', 'evm-mainnet'])(
    'T-16 PAY-52 STATE-02 STATE-03 of one payment on %s: one is first',
    async (pay_network) => {
      const quote = await shops[0]!.quote({ units: 1, pay_network })
      const tx = await market.pay(quote.accepts[0]!)
      const replies = await confirmAll(Array(50).fill([payReqId(quote), tx]))
      expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(200))
      expect(replies.filter(({ body }) => !body.idempotent)).toHaveLength(1)
      for (const { body } of replies) expect(body.receipt).toEqual(replies[0]!.body.receipt)
      expect(await rowsOf([tx])).toEqual({ receipts: [{ pay_req_id: payReqId(quote), tx }], claims: [tx] })
    },
  )

  it('T-01 PAY-57 of one payment for two quotes: one gets it, the other is told', async () => {
    const order = { units: 2 }
    const ids = await quoteIds(2, order)
    const [tx = ''] = await payUnnamed(1, order)
    const replies = await confirmAll(Array.from({ length: 40 }, (_, i) => [ids[(i >> 1) % 2]!, tx]))
    const paid = replies.filter(({ status }) => status === 200)
    expect(new Set(paid.map(({ body }) => body.receipt.pay_req_id)).size).toBe(1)
    expect(paid).toHaveLength(20)
    expect(paid.filter(({ body }) => !body.idempotent)).toHaveLength(1)
    for (const reply of replies.filter(({ status }) => status !== 200))
      expectError(reply, 402, 'payment_verification_failed', 'transaction_already_used')
    expect((await rowsOf([tx])).receipts).toHaveLength(1)
  })

  it('T-16 AMB-57 of two payments for one quote: one receipt, and the other payment is good for another quote', async () => {
    const order = { units: 3 }
    const [id = '', next = ''] = await quoteIds(2, order)
    const txs = await payUnnamed(2, order)
    const replies = await confirmAll(Array.from({ length: 40 }, (_, i) => [id, txs[(i >> 1) % 2]!]))
    expect(replies.map(({ status }) => status)).toEqual(Array(40).fill(200))
    expect(replies.filter(({ body }) => !body.idempotent)).toHaveLength(1)
    expect(new Set(replies.map(({ body }) => body.receipt.tx_hash)).size).toBe(1)
    const used = replies[0]!.body.receipt.tx_hash
    const unused = txs.find((tx) => tx !== used) ?? ''
    expect((await rowsOf(txs)).claims).toEqual([used])
    const [second] = await confirmAll([[next, unused]])
    expect([second?.status, second?.body.idempotent]).toEqual([200, false])
  })

  it('T-01 T-16 of four payments for four quotes, each for each: four receipts, nothing twice', async () => {
    const order = { units: 4 }
    const ids = await quoteIds(4, order)
    const txs = await payUnnamed(4, order)
    const pairs = ids.flatMap((id) => txs.map((tx) => [id, tx] as const))
    const replies = await confirmAll(pairs)
    const first = replies.filter(({ status, body }) => status === 200 && !body.idempotent)
    expect(first).toHaveLength(4)
    expect(new Set(first.map(({ body }) => body.receipt.tx_hash))).toEqual(new Set(txs))
    expect(new Set(first.map(({ body }) => body.receipt.pay_req_id))).toEqual(new Set(ids))
    const byQuote = new Map(first.map(({ body }) => [body.receipt.pay_req_id, body.receipt]))
    for (const [i, reply] of replies.entries()) {
      if (reply.status === 200) expect(reply.body.receipt).toEqual(byQuote.get(pairs[i]![0]))
      else expectError(reply, 402, 'payment_verification_failed', 'transaction_already_used')
    }
    const { receipts, claims } = await rowsOf(txs)
    expect([receipts.length, claims.length]).toEqual([4, 4])
  })
})
