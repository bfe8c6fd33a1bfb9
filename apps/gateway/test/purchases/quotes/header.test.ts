import type { Quote } from '@svc/api/purchases'
import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, x402HTTPClient } from '@x402/core/http'
import { parsePaymentRequired } from '@x402/core/schemas'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Market, openMarket, type Reply, type Shop } from '../market.ts'

let market: Market
beforeAll(async () => {
  market = await openMarket()
})
afterAll(() => market.close())

function ask(shop: Shop, order: object = { units: 1 }): Promise<Reply<Quote>> {
  return shop.post<Quote>('/v1/storage/request', order, { origin: 'https://page.example' })
}

it('ADD-01 stock clients read the quote from the header PAYMENT-REQUIRED', async () => {
  const { headers, body } = await ask(await market.open())
  const required = decodePaymentRequiredHeader(headers.get('payment-required') ?? '')
  expect(parsePaymentRequired(required)).toMatchObject({ success: true })
  expect(required.accepts).toEqual(body.accepts)
  expect(required.resource).toEqual(body.resource)
  expect(required.extensions).toMatchObject({ svc: { info: body.extensions.svc.info } })
  const client = new x402HTTPClient(new x402Client())
  expect(client.getPaymentRequiredResponse((name) => headers.get(name), body)).toEqual(required)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('access-control-expose-headers')).toContain('PAYMENT-REQUIRED')
})

it('ADD-01 the header stays below 7 kB with the longest amounts and a long address', async () => {
  for (const [symbol, usd] of [
    ['SOL', '157.12345678'],
    ['ETH', '3157.12345678'],
    ['MON', '0.03512345'],
  ] as const)
    market.chains.rates.setPrice(symbol, usd)
  const longName = Array.from({ length: 3 }, () => 'a'.repeat(60)).join('.')
  const shop = await market.open({ BASE_URL: `https://${longName}.example/gateway` })
  const { headers, body } = await ask(shop, { units: 1_000_000, provider: 'arweave' })
  expect(body.accepts).toHaveLength(9)
  expect(headers.get('payment-required')?.length).toBeLessThan(7_168)
})

it('ADD-01 no leg names a fee payer: stock clients would derive a wrong destination from it', async () => {
  const { headers, body } = await ask(await market.open())
  expect(JSON.stringify(body)).not.toContain('feePayer')
  const required = decodePaymentRequiredHeader(headers.get('payment-required') ?? '')
  expect(JSON.stringify(required)).not.toContain('feePayer')
})
