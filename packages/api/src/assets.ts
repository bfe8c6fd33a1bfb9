// The assets that can pay a quote, in the order of its legs (PAY-25, PAY-26, PAY-04). Settings, prices, clients, pages,
// the tables of the documents and the local development chains are derived from this list: CONTRIBUTING.md, "An asset".

import { EVM, type Network, PRIMARY } from './networks.ts'

/** The price of a coin. Tokens can have the same price. */
export interface OraclePrice {
  by: 'oracle'
  symbol: string
  /** Its USD feed in the public price network. */
  feed: string
}

type Pricing = { by: 'usd' } | { by: 'flat' } | OraclePrice

export interface Asset {
  network: Network
  ticker: string
  decimals: number
  pricing: Pricing
  /** Mint or contract. If null, the setting TOKENS names it; without that, the asset is not offered. */
  address: string | null
  /**
   * The version of the token's EIP-712 domain, whose name is the ticker. Set for tokens that accept signed transfers
   * (EIP-3009), as x402 clients make them.
   */
  domainVersion?: string
}

const DOLLAR = { by: 'usd' } as const
const FLAT = { by: 'flat' } as const
const SOL = oracle('SOL', 'ef0d8b6fda2ceba41da15d4095d1da392a0d2f8ed0c6c7bc0f4cfac8c280b56d')
const ETH = oracle('ETH', 'ff61491a931112ddf1bd8147cd1b641375f79f5825126d665480874634fd0ace')
const MON = oracle('MON', '31491744e2dbf6df7fcf4ac0820d18a609b49076d45066d3568424e62f686cd1')

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const USDT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'
const WETH = '7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs'
const EVM_USDC = '0x754704Bc059F8C67012fEd69BC8A327a5aafb603'

export const ASSETS = [
  { network: PRIMARY, ticker: 'SOL', decimals: 9, pricing: SOL, address: PRIMARY.nativeAsset },
  { network: PRIMARY, ticker: 'USDC', decimals: 6, pricing: DOLLAR, address: USDC },
  { network: PRIMARY, ticker: 'USDT', decimals: 6, pricing: DOLLAR, address: USDT },
  { network: PRIMARY, ticker: 'WETH', decimals: 8, pricing: ETH, address: WETH },
  { network: PRIMARY, ticker: 'BETA', decimals: 0, pricing: FLAT, address: null },
  { network: EVM, ticker: 'MON', decimals: 18, pricing: MON, address: EVM.nativeAsset },
  { network: EVM, ticker: 'USDC', decimals: 6, pricing: DOLLAR, address: EVM_USDC, domainVersion: '2' },
  { network: EVM, ticker: 'USDT0', decimals: 6, pricing: DOLLAR, address: null },
  { network: EVM, ticker: 'WETH', decimals: 18, pricing: ETH, address: null },
] as const satisfies readonly Asset[]

export type TickerOn<Family extends Network['family']> = Extract<
  (typeof ASSETS)[number],
  { network: { family: Family } }
>['ticker']

/** Ignores the case of the ticker (PAY-47). */
export function findAsset(network: Network, ticker: string): Asset | null {
  // Lower case, because the upper case of 'ſ' is 'S': 'uſdc' is no ticker.
  const wanted = ticker.toLowerCase()
  return ASSETS.find((asset) => asset.network === network && asset.ticker.toLowerCase() === wanted) ?? null
}

/** The coin that pays the network's fees. */
export function coinOf(network: Network): Asset {
  const coin = ASSETS.find((asset) => asset.network === network && isCoin(asset))
  if (!coin) throw new Error(`no asset is the coin of ${network.name}`)
  return coin
}

export function isCoin({ network, address }: Asset): boolean {
  return address === network.nativeAsset
}

/** The oracle prices that the assets need, with those of native coins first. */
export function pricesOf(assets: readonly Asset[]): OraclePrice[] {
  const prices = [...assets.filter(isCoin), ...assets].flatMap(({ pricing }) =>
    pricing.by === 'oracle' ? [pricing] : [],
  )
  return [...new Map(prices.map((price) => [price.symbol, price])).values()]
}

/** The key of an asset in the setting TOKENS. */
export function tokenKey({ network, ticker }: Asset): string {
  return `${network.settings.toLowerCase()}.${ticker}`
}

function oracle(symbol: string, feed: string): OraclePrice {
  return { by: 'oracle', symbol, feed }
}
