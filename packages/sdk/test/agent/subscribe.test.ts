import type { SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { ErrorBody } from '@svc/api/errors'
import { ed25519Signer } from '@svc/protocol/keys'
import { signReceipt } from '@svc/protocol/receipt'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { memoryJournal } from '../../src/journal.ts'
import { type AgentMarket, openAgentMarket } from '../agents.ts'
import { interruptBuy } from '../buyers.ts'
import type { Interruption } from '../effects.ts'
import type { Buyer } from '../market.ts'

let market: AgentMarket
beforeAll(async () => {
  market = await openAgentMarket()
})
afterAll(() => market.close())
afterEach(() => market.agentProxy.behave())

const clientOf = ({ signer }: Buyer, journal = memoryJournal()) =>
  market.agentClient({ signer, journal, pinnedKeys: [market.agentKey] })

function interruptSubscription(buyer: Buyer, asset: string, interruption: Interruption) {
  return interruptBuy(market.agentProxy.url, buyer, asset, interruption, async (options, overrides, intention) => {
    const client = market.agentClient({ ...options, pinnedKeys: [market.agentKey] }, overrides)
    return (await client.subscribe(intention)).receipt
  })
}

const DAY_MS = 86_400_000

describe.each([
  ['SOL', 'SOL', () => market.solana(0)],
  ['USDC', 'USDC on EVM', () => market.evm(0)],
] as const)('subscribing with %s (%s)', (asset, held, buyerOf) => {
  it('AGENT-01 AGENT-02 AGENT-03 pays an intent once and adds thirty days for another intent', async () => {
    const buyer = buyerOf()
    const { wallet } = buyer
    const client = clientOf(buyer)
    const before = await market.agentTreasury(held)
    const first = await client.subscribe({ intent: 'may', wallet, asset })
    expect(first.receipt).toMatchObject({ pay_asset: asset, units: 1, payer_pubkey: wallet.address })
    expect(first.subscription).toMatchObject({ identity: wallet.address, status: 'active' })
    const { starts_at, expires_at } = first.subscription
    expect(Date.parse(expires_at) - Date.parse(starts_at)).toBe(30 * DAY_MS)
    expect(await client.subscribe({ intent: 'may', wallet, asset })).toEqual(first)
    expect((await market.agentTreasury(held)) - before).toBe(BigInt(first.receipt.paid_raw))
    const { subscription } = await client.subscribe({ intent: 'june', wallet, asset })
    expect(Date.parse(subscription.expires_at) - Date.parse(expires_at)).toBe(30 * DAY_MS)
    expect((await client.delegations()).subscription).toEqual(subscription)
  })

  it.each(['before', 'after'] as const)(
    'PAY-55 AGENT-03 pays once when it is interrupted %s any step and resumed',
    { tags: ['nightly'] },
    async (when) => {
      for (let effect = 1; ; effect++) {
        const before = await market.agentTreasury(held)
        const { effects, isInterrupted, resume } = await interruptSubscription(buyerOf(), asset, { effect, when })
        const { paid_raw } = await resume()
        const paid = (await market.agentTreasury(held)) - before
        expect(paid, `${when} ${effects.length}: ${effects.at(-1)}`).toBe(BigInt(paid_raw))
        if (isInterrupted) continue
        expect(effects).toEqual(expect.arrayContaining(['sign', 'put', 'send', 'outcomeOf', 'fetch']))
        return
      }
    },
  )

  it('AGENT-03 works step by step: quote, payment, confirmation', async () => {
    const buyer = buyerOf()
    const client = clientOf(buyer)
    const payment = await client.pay(await client.quote(), buyer.wallet, { asset })
    const { receipt, subscription } = await client.confirm(payment)
    expect([receipt.tx_hash, subscription.identity]).toEqual([payment.tx, buyer.wallet.address])
    expect(await client.confirm(payment)).toMatchObject({ idempotent: true, subscription })
    await expect(market.agentClient().confirm(payment)).rejects.toThrow('a client with a signer')
    await expect(clientOf(market.solana(3)).confirm(payment)).rejects.toMatchObject({
      name: 'PaymentError',
      cause: { code: 'OWNER_IDENTITY_MISMATCH', service: 'agent service' },
    })
  })
})

it('PAY-55 T-16 concurrent subscribers with the same intent and journal pay once', async () => {
  const buyer = market.solana(2)
  const journal = memoryJournal()
  const before = await market.agentTreasury('SOL')
  const subscribed = await Promise.all(
    Array.from({ length: 4 }, () => clientOf(buyer, journal).subscribe({ intent: 'at once', wallet: buyer.wallet })),
  )
  expect(new Set(subscribed.map(({ receipt }) => receipt.receipt_id)).size).toBe(1)
  expect((await market.agentTreasury('SOL')) - before).toBe(BigInt(subscribed[0]!.receipt.paid_raw))
})

describe('an agent service that sends false answers', () => {
  const forger = ed25519Signer(new Uint8Array(32).fill(9))
  let count = 0
  const subscribe = (buyer: Buyer, journal = memoryJournal(), intent = `lied to ${++count}`) =>
    clientOf(buyer, journal).subscribe({ intent, wallet: buyer.wallet })

  it.each<[string, (quote: SubscriptionQuote) => object]>([
    ['other days', (quote) => ({ ...quote, extensions: { svc: { ...quote.extensions.svc, terms: {} } } })],
    ['no way to pay', (quote) => ({ ...quote, accepts: [] })],
  ])('is not paid for a quote with %s', async (_, lie) => {
    market.agentProxy.always(/request/, { lie })
    const before = await market.agentTreasury('SOL')
    await expect(subscribe(market.solana())).rejects.toMatchObject({
      money: 'not_moved',
      cause: { name: 'UntrueAnswer' },
    })
    expect(await market.agentTreasury('SOL')).toBe(before)
  })

  it.each<[string, (body: SubscriptionConfirmation) => object]>([
    ['a receipt signed by another key', ({ receipt, ...body }) => ({ ...body, receipt: signReceipt(receipt, forger) })],
    [
      'a subscription of another identity',
      (body) => ({ ...body, subscription: { ...body.subscription, identity: 'nobody' } }),
    ],
  ])('is refused when it confirms with %s, and the client keeps the payment', async (_, lie) => {
    const buyer = market.solana()
    const journal = memoryJournal()
    market.agentProxy.always(/confirm/, {
      lie: (body: SubscriptionConfirmation | ErrorBody) => ('receipt' in body ? lie(body) : body),
    })
    const before = await market.agentTreasury('SOL')
    await expect(subscribe(buyer, journal, 'a lie')).rejects.toMatchObject({
      money: 'moved',
      cause: { name: 'UntrueAnswer' },
    })
    market.agentProxy.behave()
    const { receipt } = await subscribe(buyer, journal, 'a lie')
    expect((await market.agentTreasury('SOL')) - before).toBe(BigInt(receipt.paid_raw))
  })
})
