import { randomUUID } from 'node:crypto'
import type { Quote } from '@svc/api/purchases'
import { paymentReference, solanaPayReference } from '@svc/protocol/ids'
import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, x402HTTPClient } from '@x402/core/http'
import { parsePaymentRequired } from '@x402/core/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Market, openMarket, payReqId, type Reply, type Shop } from '../market.ts'

let market: Market
let shop: Shop
beforeAll(async () => {
  market = await openMarket()
  shop = await market.open()
})
afterAll(() => market.close())

function ask(order: object = { units: 1 }, seller = shop, headers?: Record<string, string>): Promise<Reply<Quote>> {
  return seller.post<Quote>('/v1/storage/request', order, { origin: 'https://page.example', ...headers })
}

describe('the bytes of a quote', () => {
  /** Body and header, without what is unique to the quote. */
  async function answer(order: object, headers?: Record<string, string>) {
    const { body, headers: answered } = await ask(order, shop, headers)
    const id = payReqId(body)
    const reference = paymentReference(id)
    const header = Buffer.from(answered.get('payment-required') ?? '', 'base64').toString()
    const hex = Buffer.from(reference).toString('hex')
    return [JSON.stringify(body), header].map((text) =>
      text
        .replaceAll(id, 'ID')
        .replaceAll(reference, 'REFERENCE')
        .replaceAll(hex, 'HEX')
        .replaceAll(solanaPayReference(id), 'ADDRESS'),
    )
  }

  it.each([
    { units: 1 },
    { units: 3, provider: 'arweave' },
    { units: 1, pay_asset: 'usdc' },
    { units: 2, pay_network: 'evm-mainnet' },
    { units: 2, pay_network: 'evm-mainnet', pay_asset: 'USDC' },
  ])('PAY-06 ADD-01 a quote for %j has the same bytes with and without an Idempotency-Key', async (order) => {
    const keyed = await answer(order, { 'idempotency-key': randomUUID() })
    expect(await answer(order)).toEqual(keyed)
    expect(await answer(order)).toEqual(keyed)
  })

  it('PAY-12 PAY-27 a cached quote is used only for the same order at the same rates', async () => {
    const amounts = async (units: number) => (await shop.quote({ units })).accepts.map(({ amount }) => amount)
    const [one, two] = [await amounts(1), await amounts(2)]
    expect(two).not.toEqual(one)
    market.chains.rates.setPrice('SOL', '75.125')
    market.clock.advance(61)
    expect((await amounts(1))[0]).not.toBe(one[0])
    expect((await amounts(2))[0]).not.toBe(two[0])
  })
})

describe('the header PAYMENT-REQUIRED', () => {
  it('ADD-01 stock clients read the quote from the header PAYMENT-REQUIRED', async () => {
    const { headers, body } = await ask()
    const required = decodePaymentRequiredHeader(headers.get('payment-required') ?? '')
    expect(parsePaymentRequired(required)).toMatchObject({ success: true })
    const { network, amount, asset, payTo, extra } = body.accepts[0]!
    const { name, decimals, memo } = extra
    const leg = { scheme: 'exact', network, amount, asset, payTo, maxTimeoutSeconds: 300 }
    expect(required.accepts[0]).toEqual({ ...leg, extra: { name, decimals, memo } })
    expect(required.resource).toEqual({ url: body.resource.url })
    const legs_left_out = body.accepts.length - required.accepts.length
    expect(required.extensions).toEqual({ svc: { info: body.extensions.svc.info, legs_left_out } })
    const client = new x402HTTPClient(new x402Client())
    expect(client.getPaymentRequiredResponse((name) => headers.get(name), body)).toEqual(required)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('access-control-expose-headers')).toContain('PAYMENT-REQUIRED')
  })

  it('ADD-01 a client that chooses its network or asset finds its legs in the header', async () => {
    const named = async (choice: object) => {
      const { headers } = await ask({ units: 1, ...choice })
      const { accepts, extensions } = decodePaymentRequiredHeader(headers.get('payment-required') ?? '')
      expect(extensions?.svc).not.toHaveProperty('legs_left_out')
      return accepts.map(({ network, extra }) => `${extra.name} ${network.split(':')[0]}`)
    }
    expect(await named({ pay_asset: 'WETH' })).toEqual(['WETH solana', 'WETH eip155'])
    expect(await named({ pay_network: 'evm-mainnet', pay_asset: 'USDT0' })).toEqual(['USDT0 eip155'])
    expect(await named({ pay_asset: 'BETA' })).toEqual(['BETA solana'])
  })

  it('ADD-01 no leg names a fee payer, from which stock clients would derive a wrong destination', async () => {
    const { headers, body } = await ask()
    expect(JSON.stringify(body)).not.toContain('feePayer')
    const required = decodePaymentRequiredHeader(headers.get('payment-required') ?? '')
    expect(JSON.stringify(required)).not.toContain('feePayer')
  })
})
