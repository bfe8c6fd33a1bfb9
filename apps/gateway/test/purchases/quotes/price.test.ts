import type { Price } from '@svc/api/purchases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectError, legOf, type Market, openMarket, PRODUCTION, type Shop } from '../market.ts'

let market: Market
let shop: Shop
beforeAll(async () => {
  market = await openMarket()
  shop = await market.open()
})
afterAll(() => market.close())

async function price(query = '', seller = shop): Promise<Price> {
  const { status, body } = await seller.get<Price>(`/v1/price${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

describe('GET /v1/price', () => {
  it('VER-21 SHAPE-04 GET /v1/price lists the price of a unit on every leg, and price and terms of every provider', async () => {
    const terms = {
      storage_limit_bytes: 1_073_741_824,
      file_limit: 1000,
      egress_included_bytes: 1_073_741_824,
      ttl_days: 365,
    }
    const immutable = { ...terms, settled_limit_bytes: 1_073_741_824 }
    const answer = await price()
    expect(answer).toEqual({
      quote_schema: 'svc_quote_v4',
      units: 1,
      provider: 'gcs',
      unit_price_usd: 0.25,
      total_usd: 0.25,
      amounts: expect.any(Array),
      providers: {
        gcs: { unit_price_usd: 0.25, terms },
        mongodb: { unit_price_usd: 0.125, terms },
        storj: { unit_price_usd: 0.25, terms },
        arweave: { unit_price_usd: 2.5, terms: immutable },
        filecoin: { unit_price_usd: 0.25, terms: immutable },
        firestore: { unit_price_usd: 0.125, terms },
      },
    })
    expect(answer.amounts).toHaveLength(9)
    expect(answer.amounts[0]).toEqual({
      network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      pay_network: 'primary-mainnet',
      pay_asset: 'SOL',
      asset: 'So11111111111111111111111111111111111111112',
      amount: '1663894',
      decimals: 9,
      human_amount: '0.001663894',
      oracle_rate: { usd: 150.25, source: 'oracle', as_of: expect.any(String), fallback: false },
    })
    expect(answer.amounts[6]).toEqual({
      network: 'eip155:143',
      pay_network: 'evm-mainnet',
      pay_asset: 'USDC',
      asset: '0x754704Bc059F8C67012fEd69BC8A327a5aafb603',
      amount: '250000',
      decimals: 6,
      human_amount: '0.25',
    })
  })

  it('VER-21 PAY-29 AMB-68 GET /v1/price has the amounts of a quote for the same order', async () => {
    const { amounts, total_usd } = await price('?units=3&provider=mongodb&pay_network=evm-testnet')
    const quote = await shop.quote({ units: 3, provider: 'mongodb', pay_network: 'evm-testnet' })
    expect(total_usd).toBe(quote.extensions.svc.price_summary.total_usd)
    expect(amounts.map(({ amount }) => amount)).toEqual(quote.accepts.map(({ amount }) => amount))
  })

  it('VER-21 PAY-48 GET /v1/price refuses the orders that a quote refuses', async () => {
    const reply = await shop.get('/v1/price?pay_network=evm-mainnet&pay_asset=usdt')
    expectError(reply, 400, 'leg_not_in_quote')
    expect(reply.body).toMatchObject({ message: 'USDT on evm-mainnet not in quote' })
    const unknown = await shop.get('/v1/price?pay_network=polygon')
    expectError(unknown, 422, 'validation_error')
    expect(unknown.body).toMatchObject({ detail: [{ loc: ['query', 'pay_network'] }] })
  })
})

describe('exchange rates', () => {
  const rateOf = async (ticker: string, network?: string) =>
    legOf(await shop.quote(), ticker, network).extra.oracle_rate

  it('PAY-28 LIM-10 exchange rates are fetched once a minute', async () => {
    const { rates } = market.chains
    market.clock.advance(60)
    rates.setPrice('SOL', '150.25')
    await shop.quote()
    const asked = rates.requestCount
    rates.setPrice('SOL', '300')
    market.clock.advance(59)
    expect((await rateOf('SOL'))?.usd).toBe(150.25)
    expect((await price()).amounts[0]?.amount).toBe('1663894')
    expect(rates.requestCount).toBe(asked)
    market.clock.advance(1)
    expect((await rateOf('SOL'))?.usd).toBe(300)
    expect(rates.requestCount).toBe(asked + 1)
  })

  it('PAY-28 a quote uses the configured rates, and says so, while the oracle fails', {
    tags: ['nightly'],
  }, async () => {
    const { rates } = market.chains
    const fallbacks = { FALLBACK_USD_SOL: '100', FALLBACK_USD_ETH: '2500', FALLBACK_USD_MON: '0.05' }
    const CLOSED = 'http://127.0.0.1:1'
    for (const [status, text, ORACLE_URL] of [
      [500, 'oops', rates.url],
      [200, '{"parsed":[{}]}', rates.url],
      [404, 'Price ids not found', rates.url],
      [200, '', CLOSED],
    ] as const) {
      rates.answerAlways(status, text)
      const seller = await market.open({ ...fallbacks, ORACLE_URL })
      const quote = await seller.quote({ units: 4 })
      const as_of = new Date(market.clock.now()).toISOString().replace('.000', '')
      const fallback = { source: 'fallback', as_of, fallback: true }
      expect(legOf(quote, 'SOL')).toMatchObject({
        amount: '10000000',
        extra: { oracle_rate: { usd: 100, ...fallback } },
      })
      expect(legOf(quote, 'WETH')).toMatchObject({
        amount: '40000',
        extra: { oracle_rate: { usd: 2500, ...fallback } },
      })
      expect(legOf(quote, 'MON', 'evm-mainnet')).toMatchObject({
        amount: '20000000000000000000',
        extra: { oracle_rate: { usd: 0.05, ...fallback } },
      })
      expect(legOf(quote, 'USDC').amount).toBe('1000000')
    }
    rates.recover()
  })

  it.each([
    ['negative', '-150', {}],
    ['zero', '0', {}],
    ['old', '150', { ageSeconds: 121 }],
    ['uncertain', '150', { confidence: '4' }],
    ['ten times away', '3001', {}],
  ])('T-22 an oracle price that is %s is not used', async (_, usd, doubts) => {
    market.clock.advance(60)
    market.chains.rates.setPrice('SOL', '300')
    await shop.quote()
    market.clock.advance(60)
    market.chains.rates.setPrice('SOL', usd, doubts)
    expect(await rateOf('SOL')).toMatchObject({ usd: 299.85, source: 'oracle', fallback: true })
    expect(await rateOf('MON', 'evm-mainnet')).toMatchObject({ source: 'oracle', fallback: false })
  })

  it('T-39 a leg whose price the oracle lacks costs no less than its last price for an hour, then it stops alone', async () => {
    const { rates } = market.chains
    const seller = await market.open(PRODUCTION)
    const query = '?pay_asset=WETH'
    const before = (await price(query, seller)).amounts
    rates.removePrice('ETH')
    market.clock.advance(3599)
    const during = (await price(query, seller)).amounts
    expect(during).toHaveLength(before.length)
    for (const [i, { amount, oracle_rate }] of during.entries()) {
      expect(BigInt(amount)).toBeGreaterThan(BigInt(before[i]!.amount))
      expect(oracle_rate).toMatchObject({ source: 'oracle', as_of: before[i]!.oracle_rate?.as_of, fallback: true })
    }
    market.clock.advance(1)
    const refused = await seller.get(`/v1/price${query}`)
    expectError(refused, 503, 'chain_unavailable', 'no_price')
    expect(refused.body).toMatchObject({ message: 'no price of WETH is known right now' })
    const quote = await seller.quote()
    expect(quote.accepts.map(({ extra }) => extra.name)).not.toContain('WETH')
    expect(legOf(quote, 'SOL').extra.oracle_rate).toMatchObject({ source: 'oracle', fallback: false })
    expect(legOf(quote, 'MON', 'evm-mainnet').extra.oracle_rate).toMatchObject({ source: 'oracle', fallback: false })
    const { body: health } = await seller.get<{ warnings: string[] }>('/health')
    const missing = health.warnings.filter((text) => text.startsWith('no price'))
    expect(missing).toEqual(['no price of ETH is known: it is left out of quotes'])
    rates.setPrice('ETH', '3500')
  })

  it('T-39 ADD-25 no rate is compiled in: a new production gateway without an oracle sells for dollars only, and says so', async () => {
    const INTERNAL_SECRET = 'the-secret-of-internal-callers'
    const seller = await market.open({ ...PRODUCTION, ORACLE_URL: 'http://127.0.0.1:1', INTERNAL_SECRET })
    const { body: health } = await seller.get<{ checks: object }>('/health')
    expect(health.checks).toMatchObject({ price_feed: 'failing' })
    const authorization = `Bearer ${INTERNAL_SECRET}`
    const metrics = await (await fetch(`${seller.gateway.url}/metrics`, { headers: { authorization } })).text()
    expect(metrics).toContain('svc_price_up{symbol="SOL",state="missing"} 0\n')
    const { accepts } = await seller.quote()
    expect(accepts.filter(({ extra }) => extra.oracle_rate)).toEqual([])
    const explicit = await market.open({ ...PRODUCTION, ORACLE_URL: 'http://127.0.0.1:1', FALLBACK_USD_MON: '0.05' })
    expect(legOf(await explicit.quote(), 'MON', 'evm-mainnet').extra.oracle_rate).toMatchObject({ usd: 0.05 })
  })

  it('T-22 an amount is at least one atomic unit at any rate', async () => {
    market.chains.rates.setPrice('ETH', '99999999999')
    const seller = await market.open({ UNIT_PRICES_USD: 'gcs=0.0000001' })
    const quote = await seller.quote()
    expect(legOf(quote, 'WETH').amount).toBe('1')
    expect(legOf(quote, 'USDC').amount).toBe('1')
    market.chains.rates.setPrice('ETH', '3500')
  })
})
