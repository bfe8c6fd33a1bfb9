import { forEachDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Agency, evmPayer, openAgency, primaryPayer } from '../agent-stack.ts'
import { booked, expectError, pay, type Till, tillOf } from '../subscription-api.ts'

const MONTH = 30 * 86_400_000
const CROWD = Array.from({ length: 20 })

forEachDatabase('confirmations at once', (database) => {
  let agency: Agency
  let till: Till
  beforeAll(async () => {
    agency = await openAgency({ DATABASE_URL: database.url })
    till = tillOf(agency.agent)
  })
  afterAll(() => agency.close())

  it('AGENT-03 T-16 of 20 of one payment, one is the first, and the subscription grows once', async () => {
    const { identity, ...payer } = primaryPayer(0)
    const quote = await till.quote()
    const tx = await pay(agency, quote.accepts[0]!, { identity, ...payer })
    const replies = await Promise.all(CROWD.map(() => till.show({ quote, tx, identity })))
    expect(replies.map(({ status }) => status)).toEqual(CROWD.map(() => 200))
    expect(replies.filter(({ body }) => !body.idempotent)).toHaveLength(1)
    expect(new Set(replies.map(({ body }) => JSON.stringify(body.receipt))).size).toBe(1)
    expect(await booked(agency)).toEqual({ receipts: 1, subscriptions: 1 })
    const [first] = replies
    expect(Date.parse(first!.body.subscription.expires_at)).toBe(agency.clock.now() + MONTH)
  })

  it('T-01 of 20 quotes with one payment, one is paid, and the others say why not', async () => {
    const payer = evmPayer(0)
    const quotes = await Promise.all(CROWD.map(() => till.quote({ pay_network: 'evm-mainnet', pay_asset: 'USDC' })))
    const tx = await pay(agency, quotes[0]!.accepts[0]!, payer, { memo: null })
    const before = await booked(agency)
    const replies = await Promise.all(quotes.map((quote) => till.show({ quote, tx, identity: payer.identity })))
    const refused = replies.filter(({ status }) => status !== 200)
    expect(refused).toHaveLength(19)
    for (const reply of refused) expectError(reply, 402, 'payment_verification_failed', 'transaction_already_used')
    expect(await booked(agency)).toEqual({ receipts: before.receipts + 1, subscriptions: before.subscriptions + 1 })
  })

  it('AGENT-01 of several purchases of one subscriber, each counts', async () => {
    const payer = primaryPayer(1)
    const quotes = await Promise.all(CROWD.slice(0, 5).map(() => till.quote()))
    const paid = []
    for (const quote of quotes) paid.push({ quote, tx: await pay(agency, quote.accepts[0]!, payer) })
    const replies = await Promise.all(paid.map((showing) => till.show({ ...showing, identity: payer.identity })))
    const ends = replies.map(({ body }) => Date.parse(body.subscription.expires_at)).sort((a, b) => a - b)
    expect(ends).toEqual(quotes.map((_, i) => agency.clock.now() + MONTH * (i + 1)))
  })
})
