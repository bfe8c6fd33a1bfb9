import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { expectError, openMarket, payReqId } from '@svc/devnet/services/market'
import { describe, expect, it } from 'vitest'

const market = forAllTests(() => openMarket())

const GATEWAYS = 2
const CONFIRMATIONS = 20

// Each gateway gets half of the confirmations, so they race inside one gateway and between two.
describe.each(['sqlite', 'postgres'] as const)('concurrent confirmations at two gateways (%s)', (dialect) => {
  const database = forAllTests(() => createFreshDatabase(dialect))
  const open = () => market.open({ DATABASE_URL: database.url })
  const shops = Array.from({ length: GATEWAYS }, () => forAllTests(open))

  /** Sends all confirmations concurrently, spread over the gateways. */
  function confirmAll(pairs: readonly (readonly [pay_req_id: string, tx: string])[]) {
    return Promise.all(pairs.map(([pay_req_id, tx], i) => shops[i % GATEWAYS]!.confirm({ pay_req_id }, tx)))
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
    'T-01 STATE-03 concurrent confirmations of one payment on %s write one receipt',
    { tags: ['nightly'] },
    async (pay_network) => {
      const quote = await shops[0]!.quote({ units: 1, pay_network })
      const tx = await market.pay(quote.accepts[0]!)
      const replies = await confirmAll(Array(CONFIRMATIONS).fill([payReqId(quote), tx]))
      expect(replies.map(({ status }) => status)).toEqual(Array(CONFIRMATIONS).fill(200))
      expect(replies.filter(({ body }) => !body.idempotent)).toHaveLength(1)
      for (const { body } of replies) expect(body.receipt).toEqual(replies[0]!.body.receipt)
      expect(await rowsOf([tx])).toEqual({ receipts: [{ pay_req_id: payReqId(quote), tx }], claims: [tx] })
    },
  )

  it('T-01 PAY-57 one payment confirmed for two quotes concurrently pays one and is refused for the other', async () => {
    const order = { units: 2 }
    const ids = await quoteIds(2, order)
    const [tx = ''] = await payUnnamed(1, order)
    const replies = await confirmAll(Array.from({ length: CONFIRMATIONS }, (_, i) => [ids[(i >> 1) % 2]!, tx]))
    const paid = replies.filter(({ status }) => status === 200)
    expect(new Set(paid.map(({ body }) => body.receipt.pay_req_id)).size).toBe(1)
    expect(paid).toHaveLength(CONFIRMATIONS / 2)
    expect(paid.filter(({ body }) => !body.idempotent)).toHaveLength(1)
    for (const reply of replies.filter(({ status }) => status !== 200))
      expectError(reply, 402, 'payment_verification_failed', 'transaction_already_used')
    expect((await rowsOf([tx])).receipts).toHaveLength(1)
  })

  it('T-205 ADD-13 two payments confirmed for one quote concurrently give one receipt, and the other payment stays unclaimed', async () => {
    const order = { units: 3 }
    const [id = '', next = ''] = await quoteIds(2, order)
    const txs = await payUnnamed(2, order)
    const replies = await confirmAll(Array.from({ length: CONFIRMATIONS }, (_, i) => [id, txs[(i >> 1) % 2]!]))
    const paid = replies.filter(({ status }) => status === 200)
    expect(paid).toHaveLength(CONFIRMATIONS / 2)
    expect(paid.filter(({ body }) => !body.idempotent)).toHaveLength(1)
    expect(new Set(paid.map(({ body }) => body.receipt.tx_hash)).size).toBe(1)
    for (const reply of replies.filter(({ status }) => status !== 200))
      expectError(reply, 402, 'payment_verification_failed', 'quote_already_paid')
    const used = paid[0]!.body.receipt.tx_hash
    const unused = txs.find((tx) => tx !== used) ?? ''
    expect((await rowsOf(txs)).claims).toEqual([used])
    const [second] = await confirmAll([[next, unused]])
    expect([second?.status, second?.body.idempotent]).toEqual([200, false])
  })
})
