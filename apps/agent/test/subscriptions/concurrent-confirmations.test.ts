import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { expect, it } from 'vitest'
import { useAgentStack } from '../agent-stack.ts'
import { countPurchases, expectError, pay, subscriptionApi } from '../subscription-api.ts'
import { evmPayer, primaryPayer } from '../wallets.ts'

const MONTH = 30 * 86_400_000
const CROWD = Array.from({ length: 20 })

forEachDatabaseInGate('concurrent confirmations', (database) => {
  const stack = useAgentStack(() => ({ DATABASE_URL: database.url }))
  const api = subscriptionApi(() => stack.agent)

  it('AGENT-03 T-16 of one payment extend the subscription once', async () => {
    const { identity, ...payer } = primaryPayer(0)
    const quote = await api.quote()
    const tx = await pay(stack, quote.accepts[0]!, { identity, ...payer })
    const replies = await Promise.all(CROWD.map(() => api.confirm({ quote, tx, identity })))
    expect(replies.map(({ status }) => status)).toEqual(CROWD.map(() => 200))
    expect(replies.filter(({ body }) => !body.idempotent)).toHaveLength(1)
    expect(new Set(replies.map(({ body }) => JSON.stringify(body.receipt))).size).toBe(1)
    expect(await countPurchases(stack)).toEqual({ receipts: 1, subscriptions: 1 })
    const [first] = replies
    expect(Date.parse(first!.body.subscription.expires_at)).toBe(stack.clock.now() + MONTH)
  })

  it('T-01 of 20 quotes with one payment pay one quote, and the others are rejected with a reason', {
    tags: ['nightly'],
  }, async () => {
    const payer = evmPayer(0)
    const quotes = await Promise.all(CROWD.map(() => api.quote({ pay_network: 'evm-mainnet', pay_asset: 'USDC' })))
    const tx = await pay(stack, quotes[0]!.accepts[0]!, payer, { memo: null })
    const before = await countPurchases(stack)
    const replies = await Promise.all(quotes.map((quote) => api.confirm({ quote, tx, identity: payer.identity })))
    const refused = replies.filter(({ status }) => status !== 200)
    expect(refused).toHaveLength(19)
    for (const reply of refused) expectError(reply, 402, 'payment_verification_failed', 'transaction_already_used')
    expect(await countPurchases(stack)).toEqual({
      receipts: before.receipts + 1,
      subscriptions: before.subscriptions + 1,
    })
  })

  it('AGENT-01 of several payments by one subscriber count each payment', async () => {
    const payer = primaryPayer(1)
    const quotes = await Promise.all(CROWD.slice(0, 5).map(() => api.quote()))
    const paid = []
    for (const quote of quotes) paid.push({ quote, tx: await pay(stack, quote.accepts[0]!, payer) })
    const replies = await Promise.all(
      paid.map((confirmation) => api.confirm({ ...confirmation, identity: payer.identity })),
    )
    const ends = replies.map(({ body }) => Date.parse(body.subscription.expires_at)).sort((a, b) => a - b)
    expect(ends).toEqual(quotes.map((_, i) => stack.clock.now() + MONTH * (i + 1)))
  })
})
