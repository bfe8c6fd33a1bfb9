import { ASSETS } from '@svc/api/assets'
import type { Quote } from '@svc/api/purchases'
import type { X402Quote } from '@svc/api/x402'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { forAllTests } from '@svc/devnet/for-tests'
import { type Head, headOf } from '@svc/devnet/services/head-bytes'
import { type Market, openMarket } from '@svc/devnet/services/market'
import type { TestGateway } from '@svc/devnet/services/test-gateway'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { challengesIn, evmClient, payableWith } from '../protocols/mpp/mpp-testbed.ts'
import { encoded, FAMILIES, signFor, walletOn } from '../protocols/x402/x402-testbed.ts'

/** The default limit of nginx for the head of a response (`proxy_buffer_size`). */
const PROXY_BYTES = 4096

const label = 'a'.repeat(60)
const EACH = ['SOL solana', 'USDC eip155', 'USDC solana']
/** The legs and challenge methods that fit into the head of a plain quote. */
const HOSTS: [string, string[], string[]][] = [
  ['storage.gateway.example', EACH, ['solana', 'evm']],
  ['storage-gateway.eu-central-1.production.company.example/storage/gateway', EACH, ['solana', 'evm']],
  [`${label}.${label}.${label}.${label}.example`, ['SOL solana'], ['solana']],
]

/** The most expensive order, whose amounts are the longest. */
const ORDER = { units: 1_000_000, provider: 'arweave' }

// The clock is real, because stock clients check when a challenge expires.
let market: Market
beforeAll(async () => {
  market = await openMarket({ now: Date.now })
  for (const [symbol, usd] of [
    ['SOL', '157.12345678'],
    ['ETH', '3157.12345678'],
    ['MON', '0.03512345'],
  ] as const)
    market.chains.rates.setPrice(symbol, usd)
})
afterAll(() => market.close())

function ask(
  shop: TestGateway,
  path: string,
  order: object | null,
  headers: Record<string, string> = {},
): Promise<Head> {
  const json = { origin: 'https://page.example', 'content-type': 'application/json', ...headers }
  const sent = order ? { method: 'POST', body: JSON.stringify(order) } : { method: 'GET' }
  return headOf(shop.gateway.url + path, { headers: json, ...sent })
}

/** The number of legs for signed payments that fit into a head. */
const X402_LEGS = 3

function legsIn({ headers }: Pick<Head, 'headers'>): string[] {
  const { accepts } = decodePaymentRequiredHeader(headers.get('payment-required') ?? '')
  return accepts.map(({ network, extra }) => `${extra.name} ${network.split(':')[0]}`)
}

describe.each(HOSTS)('a gateway at https://%s', (host, legs, methods) => {
  const shop = forAllTests(() => market.open({ BASE_URL: `https://${host}` }, { now: Date.now }))

  function expectSmall(head: Head): void {
    expect(head.status).toBe(402)
    expect(head.bytes).toBeLessThan(PROXY_BYTES)
  }

  it.each([[{}], [{ 'accept-payment': 'solana/charge;q=0.1, evm/charge' }]])(
    'ADD-01 T-100 a quote of every leg has a head below 4 kB for the request headers %j',
    async (headers) => {
      const { body } = await shop.send<Quote>('POST', '/v1/storage/request', ORDER, headers)
      expect(body.accepts).toHaveLength(ASSETS.length)
      const head = await ask(shop, '/v1/storage/request', ORDER, headers)
      expectSmall(head)
      expect(legsIn(head)).toEqual(legs)
      if (!('accept-payment' in headers))
        expect(challengesIn(head.headers).map(({ method }) => method)).toEqual(methods)
    },
  )

  it('ADD-01 an x402 offer has a head below 4 kB, with as many legs as fit', async () => {
    const { body } = await shop.send<X402Quote>('POST', '/v1/x402/storage', ORDER)
    const head = await ask(shop, '/v1/x402/storage', ORDER)
    expectSmall(head)
    expect(legsIn(head)).toHaveLength(Math.min(body.accepts.length, X402_LEGS))
    expectSmall(await ask(shop, '/v1/x402/storage', null))
  })

  it.each(FAMILIES)('ADD-01 the refusal of a signed payment on the %s chain has a head below 4 kB', async (family) => {
    const client = (await walletOn(family, market.chains)).setSpendControls(false)
    const [{ payload }, { payload: other }] = [
      await signFor(client, shop.gateway.url, ORDER),
      await signFor(client, shop.gateway.url, ORDER),
    ]
    const signature = family === 'evm' ? { ...payload.payload, signature: `0x${'11'.repeat(65)}` } : other.payload
    const refused = { 'payment-signature': encoded({ ...payload, payload: signature }) }
    const head = await ask(shop, '/v1/x402/storage', ORDER, refused)
    expectSmall(head)
    expect(head.headers.get('payment-response')).not.toBeNull()
    expect(legsIn(head)).toHaveLength(X402_LEGS)
  })

  it('ADD-01 T-100 the refusal of a credential has a head below 4 kB', async () => {
    const accepted = { 'accept-payment': 'evm/charge' }
    const { headers } = await ask(shop, '/v1/storage/request', ORDER, accepted)
    const authorization = await evmClient().createCredential(new Response(null, { status: 402, headers }))
    const head = await ask(shop, '/v1/storage/request', ORDER, { ...accepted, authorization })
    expectSmall(head)
    payableWith(challengesIn(head.headers), TOKENS.USDC.address)
  })
})
