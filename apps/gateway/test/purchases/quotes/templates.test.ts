import { randomUUID } from 'node:crypto'
import type { Quote } from '@svc/api/purchases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Market, openMarket, payReqId, type Shop } from '../market.ts'

let market: Market
let shop: Shop
beforeAll(async () => {
  market = await openMarket()
  shop = await market.open()
})
afterAll(() => market.close())

async function answer(order: object, headers?: Record<string, string>) {
  const { body, headers: answered } = await shop.post<Quote>('/v1/storage/request', order, headers)
  const id = payReqId(body)
  const header = Buffer.from(answered.get('payment-required') ?? '', 'base64').toString()
  const hex = Buffer.from(id).toString('hex')
  return [JSON.stringify(body), header].map((text) => text.replaceAll(id, 'ID').replaceAll(hex, 'HEX'))
}

it.each([
  { units: 1 },
  { units: 3, provider: 'arweave' },
  { units: 1, pay_asset: 'usdc' },
  { units: 2, pay_network: 'evm-mainnet' },
  { units: 2, pay_network: 'evm-mainnet', pay_asset: 'USDC' },
])('PAY-06 ADD-01 a quote for %j has the same bytes with an Idempotency-Key and without', async (order) => {
  const keyed = await answer(order, { 'idempotency-key': randomUUID() })
  expect(await answer(order)).toEqual(keyed)
  expect(await answer(order)).toEqual(keyed)
})

it('PAY-12 PAY-27 every order has a form of its own, and every rate', async () => {
  const amounts = async (units: number) => (await shop.quote({ units })).accepts.map(({ amount }) => amount)
  const [one, two] = [await amounts(1), await amounts(2)]
  expect(two).not.toEqual(one)
  market.chains.rates.setPrice('SOL', '75.125')
  market.clock.advance(61)
  expect((await amounts(1))[0]).not.toBe(one[0])
  expect((await amounts(2))[0]).not.toBe(two[0])
})
