import { ASSETS, type Asset, isCoin } from '@svc/api/assets'
import type { Health } from '@svc/api/info'
import { EVM, PRIMARY } from '@svc/api/networks'
import type { Price } from '@svc/api/purchases'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { startFaultyNode } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { MINTS } from '@svc/devnet/primary-chain/dev-accounts'
import { expectError, legOf, openMarket, PRODUCTION, WITHOUT_EVM, WITHOUT_PRIMARY } from '@svc/devnet/services/market'
import type { TestGateway } from '@svc/devnet/services/test-gateway'
import { createLog } from '@svc/service/program/log'
import { describe, expect, it } from 'vitest'

const market = forAllTests(() => openMarket())
const shop = forAllTests(() => market.open())

const PRIMARY_ASSETS: readonly Asset[] = ASSETS.filter(({ network }) => network === PRIMARY)
const EVM_ASSETS: readonly Asset[] = ASSETS.filter(({ network }) => network === EVM)
const PRIMARY_LEGS = PRIMARY_ASSETS.map(primaryLeg)
const EVM_LEGS = EVM_ASSETS.map(evmLeg)
const hasAddress = ({ address }: Asset) => typeof address === 'string'

/** Only these ids are known, so that a leg on any other network fails the test. */
const NETWORKS: Record<string, string> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'primary',
  'eip155:143': 'evm',
}

function primaryLeg({ ticker }: Asset): string {
  return `${ticker} primary`
}

function evmLeg({ ticker }: Asset): string {
  return `${ticker} evm`
}

async function legsOf(seller: TestGateway, choice: object) {
  const { accepts } = await seller.quote({ units: 1, ...choice })
  return accepts.map(({ network, extra }) => `${extra.name} ${NETWORKS[network] ?? network}`)
}

describe('the legs of a quote', () => {
  it('PAY-04 PAY-10 a quote has all legs in table order unless the buyer chooses one', async () => {
    expect(await legsOf(shop, {})).toEqual([...PRIMARY_LEGS, ...EVM_LEGS])
  })

  it.each([
    [{ pay_network: 'primary-mainnet' }, PRIMARY_LEGS],
    [{ pay_network: 'evm-testnet' }, EVM_LEGS],
    [{ pay_network: 'evm-mainnet', pay_asset: 'Usdt0' }, ['USDT0 evm']],
  ])('PAY-04 PAY-05 a quote for %j has only the legs that match', async (choice, legs) => {
    expect(await legsOf(shop, choice)).toEqual(legs)
  })

  it.each(['polygon', 'PRIMARY-MAINNET', 'eip155:1', '__proto__'])(
    'PAY-05 an unknown network "%s" is a 422',
    async (pay_network) => {
      const reply = await shop.send('POST', '/v1/storage/request', { units: 1, pay_network })
      expectError(reply, 422, 'validation_error')
      expect(reply.body).toMatchObject({ detail: [{ loc: ['body', 'pay_network'] }] })
    },
  )

  it.each([
    [{ pay_network: 'evm-mainnet', pay_asset: 'usdt' }, 'USDT on evm-mainnet not in quote'],
    [{ pay_asset: 'DOGE' }, 'DOGE on any network not in quote'],
  ])('PAY-48 ERR-05 an unavailable network and asset are a 400: %j', async (choice, message) => {
    const reply = await shop.send('POST', '/v1/storage/request', { units: 1, ...choice })
    expectError(reply, 400, 'leg_not_in_quote')
    expect(reply.body).toMatchObject({ message })
  })
})

describe('legs by configuration', () => {
  it('PAY-32 no listing names a test network', async () => {
    const quotes = ['primary-devnet', 'evm-testnet'].map((pay_network) => shop.quote({ units: 1, pay_network }))
    const paths = ['/v1/price', '/v1/price?pay_network=evm-testnet', '/.well-known/svc.json']
    const listings = [
      ...(await Promise.all(quotes)),
      ...(await Promise.all(paths.map(async (path) => (await shop.send('GET', path)).body))),
    ]
    for (const listing of listings) {
      const text = JSON.stringify(listing)
      expect(text).not.toMatch(/devnet|testnet/i)
      const ids = text.match(/"(?:solana|eip155):\w+"/g) ?? []
      expect(ids).not.toEqual([])
      for (const id of ids) expect(Object.keys(NETWORKS)).toContain(JSON.parse(id))
    }
  })

  it('PAY-19 a token leg whose treasury account does not exist is not offered', async () => {
    const seller = await market.open({ PRIMARY_TREASURY: 'CktRuQ2mttgRGkXJtyksdKHjUdc2C4TgDzyB98oEzy8' })
    expect(await legsOf(seller, {})).toEqual(['SOL primary', ...EVM_LEGS])
    const choice = { units: 1, pay_network: 'primary-mainnet', pay_asset: 'USDC' }
    const reply = await seller.send('POST', '/v1/storage/request', choice)
    expectError(reply, 400, 'leg_not_in_quote')
    expect(reply.body).toMatchObject({ message: 'USDC on primary-mainnet not in quote' })
  })

  it('PAY-19 VER-20 /health lists missing token accounts of the treasury with the next step until they exist', async () => {
    const PRIMARY_TREASURY = 'CktRuQ2mttgRGkXJtyksdKHjUdc2C4TgDzyB98oEzy8'
    const withoutBeta = (market.chains.variables.TOKENS ?? '').replace(/primary\.BETA=[^,]+,?/, '')
    const seller = await market.open({ PRIMARY_TREASURY, TOKENS: withoutBeta })
    const health = async () => (await seller.send<Health>('GET', '/health')).body
    const { status, warnings, not_offered } = await health()
    expect(status).toBe('ok')
    const tokens = PRIMARY_ASSETS.filter((asset) => !isCoin(asset))
    const withAddress = tokens.filter(hasAddress)
    expect(not_offered?.map(({ asset, reason }) => [asset, reason])).toEqual(
      tokens.map((asset) => [asset.ticker, hasAddress(asset) ? 'token_account_missing' : 'asset_not_configured']),
    )
    const { mint } = MINTS.USDC
    const command = `spl-token create-account ${mint} --owner ${PRIMARY_TREASURY} --fee-payer KEYPAIR.json`
    expect(warnings).toHaveLength(withAddress.length)
    expect(warnings?.[0]).toMatch(/^the treasury has no token account for USDC on primary-mainnet \(\w+\): /)
    expect(warnings?.[0]).toContain(command)
    const beta = not_offered?.find(({ asset }) => asset === 'BETA')
    expect(beta?.message).toBe('TOKENS has no primary.BETA=…: BETA on primary-mainnet is left out of quotes')
    const params = [PRIMARY_TREASURY, 'USDC', '1']
    const created = await fetch(market.chains.primary.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'dev_faucet', params }),
    })
    expect(await created.json()).toHaveProperty('result')
    market.clock.advance(60)
    await expect.poll(async () => (await health()).warnings).toHaveLength(withAddress.length - 1)
    expect(await legsOf(seller, {})).toContain('USDC primary')
    await seller.close()
  })

  it('VER-20 a chain that is not configured is listed in /health without a warning', async () => {
    const seller = await market.open({ ...WITHOUT_EVM })
    const { warnings = [], not_offered } = (await seller.send<Health>('GET', '/health')).body
    expect(warnings.join()).not.toContain('EVM')
    expect(not_offered).toEqual(
      EVM_ASSETS.map(({ ticker }) => ({
        network: 'evm-mainnet',
        asset: ticker,
        reason: 'chain_not_configured',
        message: 'EVM_RPC_URLS and EVM_TREASURY are not set: nothing is sold on evm-mainnet',
      })),
    )
    await seller.close()
  })

  it('PAY-19 VER-20 /health reports unknown token accounts without waiting while no node answers', async () => {
    const node = await startFaultyNode(market.chains.primary.url, () => null)
    const seller = await market.open({ ...WITHOUT_EVM, PRIMARY_RPC_URLS: node.url })
    const { not_offered = [] } = (await seller.send<Health>('GET', '/health')).body
    const reasons = not_offered.filter(({ asset }) => asset === 'USDC').map(({ reason }) => reason)
    expect(reasons).toContain('token_account_unknown')
    await seller.close()
    await node.stop()
  })

  it('a gateway without any leg answers 503 instead of a quote', async () => {
    const closed = await market.open({ ...WITHOUT_PRIMARY, ...WITHOUT_EVM })
    expectError(await closed.send('POST', '/v1/storage/request', { units: 1 }), 503, 'chain_unavailable')
  })

  it('PAY-04 a gateway may sell on one chain only, and never offers an asset without an address', async () => {
    const unset = { TOKENS: '' }
    const evmOnly = await market.open({ ...WITHOUT_PRIMARY, ...unset })
    expect(await legsOf(evmOnly, {})).toEqual(EVM_ASSETS.filter(hasAddress).map(evmLeg))
    const primaryOnly = await market.open({ ...WITHOUT_EVM, ...unset })
    expect(await legsOf(primaryOnly, {})).toEqual(PRIMARY_ASSETS.filter(hasAddress).map(primaryLeg))
    const reply = await primaryOnly.send('POST', '/v1/storage/request', { units: 1, pay_network: 'evm-mainnet' })
    expectError(reply, 400, 'leg_not_in_quote')
  })
})

describe('tokens with other decimals', () => {
  it('T-22 are omitted from quotes, with the reason in the log and /health', async () => {
    const lines: string[] = []
    const write = (line: string) => void lines.push(line)
    const log = createLog('error', { write, writeSoon: write, flush: () => {} })
    const given = market.chains.variables.TOKENS
    const wrong = `primary.BETA=${MINTS.WETH.mint},evm.USDT0=${TOKENS.WETH.address}`
    const seller = await market.open({ TOKENS: `${given},${wrong}` }, { log })
    const left = [...PRIMARY_LEGS, ...EVM_LEGS].filter((leg) => !/BETA|USDT0/.test(leg))
    expect(await legsOf(seller, {})).toEqual(left)
    expectError(
      await seller.send('POST', '/v1/storage/request', { units: 1, pay_asset: 'BETA' }),
      400,
      'leg_not_in_quote',
    )
    const { status, body } = await seller.send<{ warnings: string[] }>('GET', '/health')
    expect(status).toBe(200)
    expect(body.warnings).toEqual([
      `BETA on primary-mainnet (${MINTS.WETH.mint}) must have 0 decimals, but the chain reports 8: it is left out of quotes`,
      `USDT0 on evm-mainnet (${TOKENS.WETH.address}) must have 6 decimals, but the chain reports 18: it is left out of quotes`,
    ])
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain('"expected":0,"problem":"the chain reports 8"')
    await seller.close()
  })

  it('T-22 a gateway starts while no node answers, and sells tokens once it has read their decimals', async () => {
    const node = await startFaultyNode(market.chains.evm.url, () => ({ status: 500, body: '' }))
    const seller = await market.open({ ...WITHOUT_PRIMARY, EVM_RPC_URLS: node.url })
    expect(await legsOf(seller, {})).toEqual(['MON evm'])
    node.behave(async ({ honest }) => ({ body: await honest() }))
    market.clock.advance(5)
    await expect.poll(() => legsOf(seller, {})).toEqual(EVM_LEGS)
    await seller.close()
    await node.stop()
  })
})

async function price(query = '', seller = shop): Promise<Price> {
  const { status, body } = await seller.send<Price>('GET', `/v1/price${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

describe('GET /v1/price', () => {
  it('VER-21 GET /v1/price lists the price of a unit on every leg, and price and terms of every provider', async () => {
    const terms = { storage_limit_bytes: 1_073_741_824, file_limit: 1000, egress_included_bytes: 1_073_741_824 }
    const answer = await price()
    expect(answer).toMatchObject({
      quote_schema: 'svc_quote_v4',
      units: 1,
      provider: 'gcs',
      unit_price_usd: 0.25,
      total_usd: 0.25,
      providers: {
        mongodb: { unit_price_usd: 0.125, terms: { ...terms, ttl_days: 365 } },
        arweave: { unit_price_usd: 2.5, terms: { ...terms, settled_limit_bytes: 1_073_741_824 } },
      },
    })
    expect(Object.keys(answer.providers)).toHaveLength(6)
    expect(answer.amounts).toHaveLength(ASSETS.length)
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
    const dollars = answer.amounts.filter(({ pay_asset }) => pay_asset === 'USDC')
    expect(dollars).toHaveLength(2)
    for (const amount of dollars) expect(amount).not.toHaveProperty('oracle_rate')
  })

  it('VER-21 PAY-29 GET /v1/price has the same amounts as a quote for the same order', async () => {
    const { amounts, total_usd } = await price('?units=3&provider=mongodb&pay_network=evm-testnet')
    const quote = await shop.quote({ units: 3, provider: 'mongodb', pay_network: 'evm-testnet' })
    expect(total_usd).toBe(quote.extensions.svc.price_summary.total_usd)
    expect(amounts.map(({ amount }) => amount)).toEqual(quote.accepts.map(({ amount }) => amount))
  })
})

describe('exchange rates', () => {
  it('T-22 a leg without an oracle price costs at least its last price for an hour, and is then omitted', async () => {
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
    const refused = await seller.send('GET', `/v1/price${query}`)
    expectError(refused, 503, 'chain_unavailable', 'no_price')
    expect(refused.body).toMatchObject({ message: 'no price of WETH is known at the moment' })
    const quote = await seller.quote()
    expect(quote.accepts.map(({ extra }) => extra.name)).not.toContain('WETH')
    expect(legOf(quote, 'SOL').extra.oracle_rate).toMatchObject({ source: 'oracle', fallback: false })
    expect(legOf(quote, 'MON', 'evm-mainnet').extra.oracle_rate).toMatchObject({ source: 'oracle', fallback: false })
    const { body: health } = await seller.send<{ warnings: string[] }>('GET', '/health')
    const missing = health.warnings.filter((text) => text.startsWith('no price'))
    expect(missing).toEqual([expect.stringMatching(/^no price of ETH is known: .* FALLBACK_USD contains ETH=…$/)])
    rates.setPrice('ETH', '3500')
  })

  it('T-22 ADD-25 a new production gateway without an oracle sells only for dollars and reports it', async () => {
    const INTERNAL_SECRET = 'the-secret-of-internal-callers'
    const seller = await market.open({ ...PRODUCTION, ORACLE_URL: 'http://127.0.0.1:1', INTERNAL_SECRET })
    const { body: health } = await seller.send<{ checks: object }>('GET', '/health')
    expect(health.checks).toMatchObject({ price_feed: 'failing' })
    const authorization = `Bearer ${INTERNAL_SECRET}`
    const metrics = await (await fetch(`${seller.gateway.url}/metrics`, { headers: { authorization } })).text()
    expect(metrics).toContain('svc_price_up{symbol="SOL",state="missing"} 0\n')
    const { accepts } = await seller.quote()
    expect(accepts.filter(({ extra }) => extra.oracle_rate)).toEqual([])
    const explicit = await market.open({ ...PRODUCTION, ORACLE_URL: 'http://127.0.0.1:1', FALLBACK_USD: 'MON=0.05' })
    expect(legOf(await explicit.quote(), 'MON', 'evm-mainnet').extra.oracle_rate).toMatchObject({ usd: 0.05 })
  })

  it('PAY-28 VER-20 configured prices of all coins are a warning while the oracle is unavailable', async () => {
    const FALLBACK_USD = 'SOL=150,ETH=3000,MON=0.05'
    const seller = await market.open({ ...PRODUCTION, ORACLE_URL: 'http://127.0.0.1:1', FALLBACK_USD })
    await seller.quote()
    const { body: health } = await seller.send<{ warnings: string[] }>('GET', '/health')
    expect(health).toMatchObject({ status: 'ok', checks: { price_feed: 'degraded' } })
    expect(health.warnings).toContain('the price feed has no price of SOL: the configured 150 USD are used')
  })
})
