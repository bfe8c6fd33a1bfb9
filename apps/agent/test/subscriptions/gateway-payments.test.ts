import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { payLeg } from '@svc/devnet/pay-leg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Agency, evmPayer, openAgency, type Payer, primaryPayer } from '../agent-stack.ts'
import { booked, expectError, legOf, type Till, tillOf } from '../subscription-api.ts'

let agency: Agency
let till: Till
beforeAll(async () => {
  agency = await openAgency()
  till = tillOf(agency.agent)
})
afterAll(() => agency.close())

/** Both kinds of quotes have the same legs. */
type StorageQuote = Pick<SubscriptionQuote, 'accepts' | 'extensions'>

async function toGateway<Body>(path: string, body: object, headers: Record<string, string> = {}) {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
  const response = await fetch(agency.gateway.url + path, init)
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body }
}

/** Far more units than a subscription costs, so that the amount is never what is missing. */
const storageQuote = async () =>
  (await toGateway<StorageQuote>('/v1/storage/request', { units: 100 })).body as SubscriptionQuote
const smallQuote = async () =>
  (await toGateway<StorageQuote>('/v1/storage/request', { units: 1 })).body as SubscriptionQuote

const showToGateway = (quote: StorageQuote, tx: string, { network, ticker }: { network: string; ticker: string }) =>
  toGateway<{ receipt_id: string }>(
    '/v1/storage/confirm',
    { pay_req_id: quote.extensions.svc.info.pay_req_id, pay_network: network, pay_asset: ticker },
    { 'x402-tx': tx },
  )

describe.each([
  ['SOL', 'primary-mainnet', primaryPayer(0)],
  ['USDC', 'primary-mainnet', primaryPayer(1)],
  ['MON', 'evm-mainnet', evmPayer(0)],
  ['USDC', 'evm-mainnet', evmPayer(1)],
] as const)('AGENT-01 T-01 one payment of %s on %s buys one thing', (ticker, network, { number, identity }: Payer) => {
  it('a payment for storage, with no memo, buys no subscription, before it is confirmed or after', async () => {
    const [storage, quote, before] = [await storageQuote(), await till.quote(), await booked(agency)]
    const tx = await payLeg(agency.chains, legOf(storage, ticker, network), { payer: number, memo: null })
    const show = () => till.show({ quote, tx, identity, leg: legOf(quote, ticker, network) })
    expectError(await show(), 402, 'payment_verification_failed', 'nothing_received')
    expect((await showToGateway(storage, tx, { network, ticker })).status).toBe(200)
    expectError(await show(), 402, 'payment_verification_failed', 'nothing_received')
    expect(await booked(agency)).toEqual(before)
  })

  it('a payment for a subscription, with no memo, buys no storage, before it is confirmed or after', async () => {
    const [storage, quote] = [await smallQuote(), await till.quote()]
    const leg = legOf(quote, ticker, network)
    const tx = await payLeg(agency.chains, leg, { payer: number, memo: null })
    const show = () => showToGateway(storage, tx, { network, ticker })
    expectError(await show(), 402, 'payment_verification_failed', 'nothing_received')
    expect((await till.show({ quote, tx, identity, leg })).status).toBe(200)
    expectError(await show(), 402, 'payment_verification_failed', 'nothing_received')
  })
})
