import type { SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { ErrorBody } from '@svc/api/errors'
import { ed25519Signer } from '@svc/protocol/keys'
import { signReceipt } from '@svc/protocol/receipt'
import { describe, expect, it } from 'vitest'
import { memoryJournal } from '../../src/journal.ts'
import { useAgentMarket } from '../agents.ts'
import type { Buyer } from '../market.ts'

const market = useAgentMarket()

const clientOf = ({ signer }: Buyer, journal = memoryJournal()) =>
  market.agentClient({ signer, journal, pinnedKeys: [market.agentKey] })

const DAY_MS = 86_400_000

describe('subscribing', () => {
  it('AGENT-02 AGENT-03 pays once for an intent, and adds thirty days for another intent', async () => {
    const buyer = market.solana(1)
    const { wallet } = buyer
    const client = clientOf(buyer)
    const before = await market.agentTreasury('SOL')
    const first = await client.subscribe({ intent: 'may', wallet, asset: 'SOL' })
    expect(first.receipt).toMatchObject({ pay_asset: 'SOL', units: 1, payer_pubkey: wallet.address })
    expect(first.subscription).toMatchObject({ identity: wallet.address, status: 'active' })
    const { starts_at, expires_at } = first.subscription
    expect(Date.parse(expires_at) - Date.parse(starts_at)).toBe(30 * DAY_MS)
    expect(await client.subscribe({ intent: 'may', wallet, asset: 'SOL' })).toEqual(first)
    expect((await market.agentTreasury('SOL')) - before).toBe(BigInt(first.receipt.paid_raw))
    const { subscription } = await client.subscribe({ intent: 'june', wallet, asset: 'SOL' })
    expect(Date.parse(subscription.expires_at) - Date.parse(expires_at)).toBe(30 * DAY_MS)
    expect((await client.delegations()).subscription).toEqual(subscription)
  })

  it('AGENT-03 works step by step: quote, payment, confirmation', async () => {
    const buyer = market.evm()
    const client = clientOf(buyer)
    const payment = await client.pay(await client.quote(), buyer.wallet, { asset: 'USDC' })
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

describe('an agent service that sends false answers', () => {
  const forger = ed25519Signer(new Uint8Array(32).fill(9))
  const subscribe = (intent: string, journal = memoryJournal()) =>
    clientOf(market.solana(), journal).subscribe({ intent, wallet: market.solana().wallet })

  it.each<[string, (quote: SubscriptionQuote) => object]>([
    ['other days', (quote) => ({ ...quote, extensions: { svc: { ...quote.extensions.svc, terms: {} } } })],
    ['no way to pay', (quote) => ({ ...quote, accepts: [] })],
  ])('is not paid for a quote with %s', async (name, lie) => {
    market.agentProxy.always(/request/, { lie })
    const before = await market.agentTreasury('SOL')
    await expect(subscribe(name)).rejects.toMatchObject({ money: 'not_moved', cause: { name: 'UntrueAnswer' } })
    expect(await market.agentTreasury('SOL')).toBe(before)
  })

  it.each<[string, (body: SubscriptionConfirmation) => object]>([
    ['a receipt signed by another key', ({ receipt, ...body }) => ({ ...body, receipt: signReceipt(receipt, forger) })],
    [
      'a subscription of another identity',
      (body) => ({ ...body, subscription: { ...body.subscription, identity: 'nobody' } }),
    ],
  ])('PAY-55 is refused if it confirms with %s, and the payment stays in the journal', async (name, lie) => {
    const journal = memoryJournal()
    market.agentProxy.always(/confirm/, {
      lie: (body: SubscriptionConfirmation | ErrorBody) => ('receipt' in body ? lie(body) : body),
    })
    const before = await market.agentTreasury('SOL')
    await expect(subscribe(name, journal)).rejects.toMatchObject({ money: 'moved', cause: { name: 'UntrueAnswer' } })
    market.agentProxy.behave()
    const { receipt } = await subscribe(name, journal)
    expect((await market.agentTreasury('SOL')) - before).toBe(BigInt(receipt.paid_raw))
  })
})
