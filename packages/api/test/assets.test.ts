import { describe, expect, it } from 'vitest'
import { ASSETS, findAsset, pricesOf } from '../src/assets.ts'
import { EVM, PRIMARY } from '../src/networks.ts'

const SOLANA_ID = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'

/** The accepted assets: network, ticker, decimals, price, address. No other test repeats this list. */
const ON_THE_WIRE = [
  [SOLANA_ID, 'SOL', 9, 'SOL', 'So11111111111111111111111111111111111111112'],
  [SOLANA_ID, 'USDC', 6, 'usd', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
  [SOLANA_ID, 'USDT', 6, 'usd', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'],
  [SOLANA_ID, 'WETH', 8, 'ETH', '7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs'],
  [SOLANA_ID, 'BETA', 0, 'flat', null],
  ['eip155:143', 'MON', 18, 'MON', '0x0000000000000000000000000000000000000000'],
  ['eip155:143', 'USDC', 6, 'usd', '0x754704Bc059F8C67012fEd69BC8A327a5aafb603'],
  ['eip155:143', 'USDT0', 6, 'usd', null],
  ['eip155:143', 'WETH', 18, 'ETH', null],
]

/** The prices of these assets, with their feeds in the public price network. */
const PRICES = [
  ['SOL', 'ef0d8b6fda2ceba41da15d4095d1da392a0d2f8ed0c6c7bc0f4cfac8c280b56d'],
  ['MON', '31491744e2dbf6df7fcf4ac0820d18a609b49076d45066d3568424e62f686cd1'],
  ['ETH', 'ff61491a931112ddf1bd8147cd1b641375f79f5825126d665480874634fd0ace'],
]

describe('assets', () => {
  it('PAY-18 PAY-27 are declared in the order of the interface', () => {
    const declared = ASSETS.map(({ network, ticker, decimals, pricing, address }) => [
      network.caip2,
      ticker,
      decimals,
      pricing.by === 'oracle' ? pricing.symbol : pricing.by,
      address,
    ])
    expect(declared).toEqual(ON_THE_WIRE)
  })

  it('PAY-24 have one feed for each price, and no two prices share a feed', () => {
    const feeds = ASSETS.flatMap(({ pricing }) => (pricing.by === 'oracle' ? [[pricing.symbol, pricing.feed]] : []))
    expect(pricesOf(ASSETS).map(({ symbol, feed }) => [symbol, feed])).toEqual(PRICES)
    for (const feed of feeds) expect(PRICES).toContainEqual(feed)
  })

  it('PAY-47 are found by their ticker in any case, only on their own network', () => {
    expect(findAsset(PRIMARY, 'usdc')).toBe(findAsset(PRIMARY, 'USDC'))
    expect(findAsset(EVM, 'uSdT0')?.ticker).toBe('USDT0')
    for (const ticker of ['USDT0', 'MON', '', 'uſdc', 'constructor']) expect(findAsset(PRIMARY, ticker)).toBeNull()
    for (const ticker of ['USDT', 'SOL', 'BETA']) expect(findAsset(EVM, ticker)).toBeNull()
  })
})
