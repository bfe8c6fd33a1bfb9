import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { payLeg } from '@svc/devnet/pay-leg'
import { describe, expect, it } from 'vitest'
import { useAgentStack } from '../agent-stack.ts'
import { countPurchases, expectError, legOf, payReqId, subscriptionApi } from '../subscription-api.ts'
import { evmPayer, type Payer, primaryPayer } from '../wallets.ts'

const stack = useAgentStack()
const api = subscriptionApi(() => stack.agent)

async function toGateway(path: string, body: object, headers: Record<string, string> = {}) {
  const json = { 'content-type': 'application/json', ...headers }
  const response = await fetch(stack.gateway.url + path, { method: 'POST', headers: json, body: JSON.stringify(body) })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** Both kinds of quotes have the same legs. */
const storageQuote = async (units: number): Promise<SubscriptionQuote> =>
  (await toGateway('/v1/storage/request', { units })).body

const showToGateway = (quote: SubscriptionQuote, tx: string, pay_network: string, pay_asset: string) =>
  toGateway('/v1/storage/confirm', { pay_req_id: payReqId(quote), pay_network, pay_asset }, { 'x402-tx': tx })

describe.each([
  ['SOL', 'primary-mainnet', primaryPayer(0)],
  ['USDC', 'evm-mainnet', evmPayer(1)],
] as const)('AGENT-01 T-01 one payment of %s on %s buys one thing', (ticker, network, { number, identity }: Payer) => {
  it('AGENT-01 T-01 a payment for storage buys no subscription, before or after it is confirmed', async () => {
    // Far more units than a subscription costs, so that the payment is never rejected for its amount.
    const [storage, quote, before] = [await storageQuote(100), await api.quote(), await countPurchases(stack)]
    const tx = await payLeg(stack.chains, legOf(storage, ticker, network), { payer: number, memo: null })
    const show = () => api.confirm({ quote, tx, identity, leg: legOf(quote, ticker, network) })
    expectError(await show(), 402, 'payment_verification_failed', 'nothing_received')
    expect((await showToGateway(storage, tx, network, ticker)).status).toBe(200)
    expectError(await show(), 402, 'payment_verification_failed', 'nothing_received')
    expect(await countPurchases(stack)).toEqual(before)
  })

  it('AGENT-01 T-01 a payment for a subscription buys no storage, before or after it is confirmed', async () => {
    const [storage, quote] = [await storageQuote(1), await api.quote()]
    const leg = legOf(quote, ticker, network)
    const tx = await payLeg(stack.chains, leg, { payer: number, memo: null })
    const show = () => showToGateway(storage, tx, network, ticker)
    expectError(await show(), 402, 'payment_verification_failed', 'nothing_received')
    expect((await api.confirm({ quote, tx, identity, leg })).status).toBe(200)
    expectError(await show(), 402, 'payment_verification_failed', 'nothing_received')
  })
})
