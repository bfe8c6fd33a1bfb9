import { randomUUID } from 'node:crypto'
import { ASSETS } from '@svc/api/assets'
import { PROVIDER_FACTS, PROVIDERS } from '@svc/api/providers'
import type { Quote } from '@svc/api/purchases'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { forAllTests } from '@svc/devnet/for-tests'
import { MINTS } from '@svc/devnet/primary-chain/dev-accounts'
import { legOf, openMarket, PRODUCTION, payReqId } from '@svc/devnet/services/market'
import { paymentReference, solanaPayReference } from '@svc/protocol/ids'
import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, x402HTTPClient } from '@x402/core/http'
import { parsePaymentRequired } from '@x402/core/schemas'
import { describe, expect, it } from 'vitest'

const market = forAllTests(() => openMarket())
const shop = forAllTests(() => {
  market.chains.rates.setPrice('ETH', '3200.50')
  return market.open({ BASE_URL: 'https://gateway.example' })
})

const GIBIBYTE = 1_073_741_824
const PRIMARY = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const NATIVE_MINT = 'So11111111111111111111111111111111111111112'
const ADDRESSES = [
  [PRIMARY, NATIVE_MINT],
  ...Object.values(MINTS).map(({ mint }) => [PRIMARY, mint]),
  ['eip155:143', '0x0000000000000000000000000000000000000000'],
  ...Object.values(TOKENS).map(({ address }) => ['eip155:143', address]),
]

it('PAY-08 PAY-09 a quote is a 402 with everything that a buyer needs', async () => {
  const { status, headers, body } = await shop.send<Quote>('POST', '/v1/storage/request', { units: 3 })
  expect(status).toBe(402)
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  expect(headers.get('cache-control')).toBe('no-store')
  const id = payReqId(body)
  expect(id).toMatch(/^pr_[0-9a-f]{32}$/)
  expect(body.accepts.map(({ extra }) => extra.pay_req_id)).toEqual(ADDRESSES.map(() => id))
  const expires = '2026-09-01T12:05:00Z'
  expect(body).toEqual({
    x402Version: 2,
    resource: {
      url: 'https://gateway.example/v1/storage/request',
      description: expect.any(String),
      mimeType: 'application/json',
    },
    accepts: expect.any(Array),
    error: expect.any(String),
    extensions: {
      svc: {
        terms: {
          storage_limit_bytes: 3 * GIBIBYTE,
          file_limit: 3000,
          egress_included_bytes: 3 * GIBIBYTE,
          ttl_days: 365,
          quote_expires_at: expires,
          environment: 'development',
        },
        instructions: {
          steps: expect.any(Array),
          confirm_url: 'https://gateway.example/v1/storage/confirm',
          cli_example: expect.stringContaining(id),
        },
        price_summary: { unit_price_usd: 0.25, units: 3, total_usd: 0.75, provider: 'gcs' },
        payment_reference: paymentReference(id),
        legacy: expect.any(Object),
        info: {
          flow: 'pay-then-confirm',
          confirm_url: 'https://gateway.example/v1/storage/confirm',
          confirm_header: 'X402-TX',
          pay_req_id: id,
          expires_at: expires,
          x402_url: 'https://gateway.example/v1/x402/storage',
        },
        schema: expect.objectContaining({ type: 'object' }),
      },
    },
  })
})

it('ERR-01 PAY-11 the request endpoint succeeds with a 402 and a sentence for people', async () => {
  const { status, body } = await shop.send<Quote>('POST', '/v1/storage/request', { units: 1 })
  expect(status).toBe(402)
  expect(body.error).toBe('Payment required: pay one of the legs, then confirm with the transaction.')
})

it('PAY-15 LIM-03 each leg has seven keys, and its extra contains what buyers and stock clients need', async () => {
  const quote = await shop.quote({ units: 3 })
  expect(legOf(quote, 'SOL')).toEqual({
    scheme: 'exact',
    network: PRIMARY,
    amount: '4991681',
    asset: NATIVE_MINT,
    payTo: market.chains.variables.PRIMARY_TREASURY,
    maxTimeoutSeconds: 300,
    extra: {
      name: 'SOL',
      decimals: 9,
      human_amount: '0.004991681',
      pay_req_id: payReqId(quote),
      quote_schema: 'svc_quote_v4',
      oracle_rate: { usd: 150.25, source: 'oracle', as_of: '2026-09-01T12:00:00Z', fallback: false },
      paymentFlow: 'upfront',
      assetTransferMethod: 'transaction-proof',
      memo: paymentReference(payReqId(quote)),
      solana_pay: { url: expect.stringMatching(/^solana:/), reference: solanaPayReference(payReqId(quote)) },
    },
  })
  expect(legOf(quote, 'USDC', 'evm-mainnet')).toEqual({
    scheme: 'exact',
    network: 'eip155:143',
    amount: '750000',
    asset: '0x754704Bc059F8C67012fEd69BC8A327a5aafb603',
    payTo: market.chains.variables.EVM_TREASURY,
    maxTimeoutSeconds: 300,
    extra: {
      name: 'USDC',
      decimals: 6,
      human_amount: '0.75',
      pay_req_id: payReqId(quote),
      quote_schema: 'svc_quote_v4',
      paymentFlow: 'upfront',
      assetTransferMethod: 'transaction-proof',
      memo: paymentReference(payReqId(quote)),
    },
  })
  const oraclePriced = quote.accepts.filter(({ extra }) => 'oracle_rate' in extra)
  const local = ASSETS.filter(({ network }) => ADDRESSES.some(([id]) => id === network.caip2))
  const declared = local.filter(({ pricing }) => pricing.by === 'oracle')
  expect(oraclePriced.map(({ extra }) => extra.name)).toEqual(declared.map(({ ticker }) => ticker))
  for (const leg of quote.accepts) {
    const keys = ['scheme', 'network', 'amount', 'asset', 'payTo', 'maxTimeoutSeconds', 'extra']
    expect(Object.keys(leg)).toEqual(keys)
    expect(leg.amount).toMatch(/^[1-9][0-9]*$/)
    expect([leg.scheme, leg.maxTimeoutSeconds, leg.extra.quote_schema]).toEqual(['exact', 300, 'svc_quote_v4'])
  }
  expect(quote.accepts.map(({ network, asset }) => [network, asset])).toEqual(ADDRESSES)
})

it('PAY-12 PAY-14 each provider has its price and terms, and document stores cost less', async () => {
  const chosen = { storage_limit_bytes: 5, file_limit: 7, egress_included_bytes: 9, ttl_days: 30 }
  const seller = await market.open({ TERMS: JSON.stringify({ storj: chosen }) })
  const totals: Record<string, number> = {}
  for (const provider of PROVIDERS) {
    const { terms, price_summary } = (await seller.quote({ units: 2, provider })).extensions.svc
    expect(price_summary.provider).toBe(provider)
    expect(price_summary.total_usd).toBe(price_summary.unit_price_usd * 2)
    const { storage_limit_bytes, file_limit, egress_included_bytes, ttl_days } = terms
    expect([storage_limit_bytes, file_limit, egress_included_bytes, ttl_days]).toEqual(
      provider === 'storj' ? [10, 14, 18, 30] : [2 * GIBIBYTE, 2000, 2 * GIBIBYTE, 365],
    )
    totals[provider] = price_summary.total_usd
  }
  expect(totals).toEqual(
    Object.fromEntries(PROVIDERS.map((provider) => [provider, 2 * Number(PROVIDER_FACTS[provider].price)])),
  )
})

it('T-34 PAY-12 the terms of a provider that removes nothing limit the total bytes moved there', async () => {
  const TERMS = '{"arweave":{"storage_limit_bytes":100},"filecoin":{"settled_limit_bytes":7}}'
  const seller = await market.open({ TERMS })
  const limitOf = async (provider: string) =>
    (await seller.quote({ units: 2, provider })).extensions.svc.terms.settled_limit_bytes
  expect(await Promise.all(['arweave', 'filecoin', 'gcs'].map(limitOf))).toEqual([200, 14, undefined])
  await expect(market.open({ TERMS: '{"gcs":{"settled_limit_bytes":7}}' })).rejects.toThrow('TERMS')
})

it('PAY-31 a quote repeats the default leg under the older field names', async () => {
  const legacyOf = async (order: object) => (await shop.quote({ units: 3, ...order })).extensions.svc.legacy
  expect(await legacyOf({})).toEqual({
    pay_req_id: expect.stringMatching(/^pr_/),
    pay_to_address: market.chains.variables.PRIMARY_TREASURY,
    pay_network: 'primary-mainnet',
    pay_asset: 'SOL',
    amount_raw: '4991681',
    amount_sol: '0.004991681',
    amount_lamports: '4991681',
    amount_wei: null,
  })
  const nothing = { amount_sol: null, amount_lamports: null, amount_wei: null }
  const wei = '21428571428571428572'
  expect(await legacyOf({ pay_network: 'evm-mainnet' })).toMatchObject({ ...nothing, amount_raw: wei, amount_wei: wei })
  expect(await legacyOf({ pay_asset: 'USDC' })).toMatchObject({ ...nothing, amount_raw: '750000' })
})

it('PAY-13 T-02 the CLI example of every leg binds the payment to the quote and does not publish its id', async () => {
  for (const { extra, network, payTo } of (await shop.quote()).accepts) {
    const quote = await shop.quote({ units: 1, pay_network: network, pay_asset: extra.name })
    const { cli_example } = quote.extensions.svc.instructions
    const written = (text: string) => (network === PRIMARY ? text : Buffer.from(text).toString('hex'))
    const [pay, confirm] = cli_example.split(' && ')
    expect(pay).toContain(written(paymentReference(payReqId(quote))))
    expect(pay).not.toContain(written(payReqId(quote)))
    expect(pay).toContain(payTo)
    expect(confirm).toContain(payReqId(quote))
  }
})

it('ADD-10 a quote starts with a warning against real funds in development, and has none in production', async () => {
  const development = (await shop.quote()).extensions.svc
  expect(development.instructions.steps[0]).toMatch(/do not send real funds/i)
  const seller = await market.open(PRODUCTION)
  const production = (await seller.quote()).extensions.svc
  expect(production.terms).not.toHaveProperty('environment')
  expect(JSON.stringify(production)).not.toMatch(/development|real funds/i)
})

const ask = (order: object = { units: 1 }, headers?: Record<string, string>) =>
  shop.send<Quote>('POST', '/v1/storage/request', order, { origin: 'https://page.example', ...headers })

describe('the bytes of a quote', () => {
  /** Body and header without the values that are unique to the quote. */
  async function answer(order: object, headers?: Record<string, string>) {
    const { body, headers: answered } = await ask(order, headers)
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
    { units: 3, provider: 'arweave' },
    { units: 2, pay_network: 'evm-mainnet', pay_asset: 'USDC' },
  ])('PAY-06 ADD-01 a quote for %j has the same bytes with and without an Idempotency-Key', async (order) => {
    const keyed = await answer(order, { 'idempotency-key': randomUUID() })
    expect(await answer(order)).toEqual(keyed)
    expect(await answer(order)).toEqual(keyed)
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

  it('ADD-01 the header contains the legs for the network or asset that a client chooses', async () => {
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
})
