// Adding an asset changes only its declaration: CONTRIBUTING.md, "An asset". Two are added here, each by a declaration
// alone, and sold on a local chain like all others of their network.

import { ASSETS, type Asset, findAsset, pricesOf } from '@svc/api/assets'
import { EVM, PRIMARY } from '@svc/api/networks'
import { forAllTests } from '@svc/devnet/for-tests'
import { startLocalChains } from '@svc/devnet/local-chains'
import { payLeg } from '@svc/devnet/pay-leg'
import { SettingsReader, type Variables } from '@svc/service/program/config'
import { createLog } from '@svc/service/program/log'
import { expect, it } from 'vitest'
import { priceOnLegs } from '../src/selling/price-legs.ts'
import { openSales, type Sales } from '../src/selling/sales.ts'
import { readSalesConfig, SALES_SETTINGS } from '../src/selling/settings.ts'
import { x402Leg } from '../src/x402.ts'

const DOLLAR: Asset = {
  network: EVM,
  ticker: 'USDX',
  decimals: 3,
  pricing: { by: 'usd' },
  address: null,
}
const GOLD: Asset = {
  network: EVM,
  ticker: 'GOLD',
  decimals: 18,
  pricing: { by: 'oracle', symbol: 'XAU', feed: 'ab'.repeat(32) },
  address: `0x${'60'.repeat(20)}`,
}
const ADDED = [...ASSETS, DOLLAR, GOLD]

const PAY_REQ_ID = `pr_${'12'.repeat(16)}`
const log = createLog('silent')
const chains = forAllTests(() => startLocalChains({ assets: ADDED }))

function read(variables: Variables) {
  const settings = new SettingsReader(variables, SALES_SETTINGS)
  const [config, secrets] = readSalesConfig(settings, false, ADDED)
  settings.done()
  return { config, secrets }
}

function open(changes: Variables = {}): Promise<Sales> {
  const { config, secrets } = read({ ...chains.variables, ...changes })
  return openSales(config, secrets, Date.now, log)
}

const tickers = (legs: readonly { of: Asset }[]) => legs.map(({ of }) => of.ticker)

async function quoted(sales: Sales, { ticker }: Asset) {
  const [leg] = await priceOnLegs(sales, {
    totalUsd: '2',
    units: 1,
    choice: { pay_network: EVM.name, pay_asset: ticker.toLowerCase() },
    from: 'body',
  })
  return x402Leg(leg, PAY_REQ_ID)
}

it('CFG-01 a declared asset has its settings, with the declared feed', () => {
  const { config } = read({ TOKENS: `evm.USDX=0x${'12'.repeat(20)}`, FALLBACK_USD: 'XAU=4000' })
  expect(config.oracle.feeds).toMatchObject({ XAU: 'ab'.repeat(32) })
  expect(config.oracle.fallback).toEqual({ XAU: '4000' })
  expect(config.assets).toContainEqual({ of: DOLLAR, address: `0x${'12'.repeat(20)}` })
  expect(() => read({ TOKENS: 'evm.USDX=0x12', FALLBACK_USD: 'XAU=dear' })).toThrow(
    /TOKENS: evm.USDX is not an address.*FALLBACK_USD: XAU must be a positive/s,
  )
})

it('PAY-21 PAY-24 a declared asset is offered after those before it, at its price', async () => {
  const sales = await open()
  const local = ADDED.filter(({ network }) => network === PRIMARY || network === EVM)
  expect(tickers(await sales.offeredLegs())).toEqual(local.map(({ ticker }) => ticker))
  chains.rates.setPrice('XAU', '4000')
  const [dollar, gold] = [await quoted(sales, DOLLAR), await quoted(sales, GOLD)]
  expect(dollar).toMatchObject({ network: 'eip155:143', amount: '2000', extra: { name: 'USDX', human_amount: '2' } })
  expect(dollar.extra).not.toHaveProperty('oracle_rate')
  expect(gold).toMatchObject({ asset: GOLD.address, amount: '500000000000000', extra: { human_amount: '0.0005' } })
  expect(gold.extra.oracle_rate).toMatchObject({ usd: 4000, source: 'oracle' })
})

const sold = ADDED.filter(({ network }) => network === EVM)
it.each(sold)("PAY-46 INT-04 a payment in $ticker is read and counted in the treasury's balance", async (asset) => {
  const sales = await open()
  const leg = await quoted(sales, asset)
  const treasury = sales.treasuries.find(({ network }) => network === EVM)!
  const held = () => treasury.balances.read([leg])
  const [before] = await held()
  const tx = await payLeg(chains, leg)
  expect(await sales.reader(EVM).read(tx, leg)).toMatchObject({ outcome: 'found', received: BigInt(leg.amount) })
  expect(tickers(treasury.legs)).toContain(asset.ticker)
  expect(await held()).toEqual([(before ?? 0n) + BigInt(leg.amount)])
})

it('T-22 requests only the prices of assets for sale, and leaves out an asset without a price', async () => {
  const sales = await open({ PRIMARY_RPC_URLS: '', PRIMARY_TREASURY: '', TOKENS: '' })
  const needed = pricesOf(ADDED.filter(({ network, address }) => network === EVM && typeof address === 'string'))
  // One request that named an unknown feed would be rejected, and repeated for each feed alone.
  chains.rates.removePrice('SOL')
  chains.rates.removePrice('ETH')
  const before = chains.rates.requestCount
  expect((await sales.prices()).map(({ symbol }) => symbol)).toEqual(needed.map(({ symbol }) => symbol))
  expect(needed).not.toContainEqual(expect.objectContaining({ symbol: 'SOL' }))
  expect(chains.rates.requestCount - before).toBe(1)
  chains.rates.removePrice('XAU')
  const later = await open()
  await expect(quoted(later, GOLD)).rejects.toMatchObject({ code: 'chain_unavailable' })
  const { ticker: asset, network } = GOLD
  expect(await later.notOffered()).toContainEqual({
    network: network.name,
    asset,
    reason: 'no_price',
    message:
      'no price of XAU is known: it is left out of quotes until ORACLE_URL provides one or FALLBACK_USD contains XAU=…',
  })
})

it('PAY-04 VER-20 an asset is not offered while its setting is empty, and is listed with that setting', async () => {
  const unset = { ...chains.variables, TOKENS: '' }
  const sales = await open(unset)
  expect(tickers(await sales.offeredLegs())).not.toContain('USDX')
  expect(await sales.notOffered()).toContainEqual({
    network: EVM.name,
    asset: 'USDX',
    reason: 'asset_not_configured',
    message: `TOKENS has no evm.USDX=…: USDX on ${EVM.name} is left out of quotes`,
  })
  expect(read(unset).config.assets).toContainEqual({ of: DOLLAR, address: null })
})

it('PAY-25 no other code names the assets that are added here', () => {
  for (const { ticker } of [DOLLAR, GOLD]) expect(findAsset(EVM, ticker)).toBeNull()
})
