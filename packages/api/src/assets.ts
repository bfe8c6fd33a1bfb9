// What a quote can be paid in, in the order of its legs (PAY-25, PAY-26, AMB-08).

import { EVM, type Network, PRIMARY } from './networks.ts'

export const ORACLE_SYMBOLS = ['SOL', 'MON', 'ETH'] as const
export type OracleSymbol = (typeof ORACLE_SYMBOLS)[number]

type Pricing = { by: 'usd' } | { by: 'oracle'; symbol: OracleSymbol } | { by: 'flat' }

export interface Asset {
  network: Network
  ticker: string
  decimals: number
  pricing: Pricing
  /** Mint or contract; null where only the configuration can name it. */
  defaultAddress: string | null
}

const DOLLAR: Pricing = { by: 'usd' }
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const USDT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'
const WETH = '7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs'
const EVM_USDC = '0x754704Bc059F8C67012fEd69BC8A327a5aafb603'

export const ASSETS: readonly Asset[] = [
  { network: PRIMARY, ticker: 'SOL', decimals: 9, pricing: oracle('SOL'), defaultAddress: PRIMARY.nativeAsset },
  { network: PRIMARY, ticker: 'USDC', decimals: 6, pricing: DOLLAR, defaultAddress: USDC },
  { network: PRIMARY, ticker: 'USDT', decimals: 6, pricing: DOLLAR, defaultAddress: USDT },
  { network: PRIMARY, ticker: 'WETH', decimals: 8, pricing: oracle('ETH'), defaultAddress: WETH },
  { network: PRIMARY, ticker: 'BETA', decimals: 0, pricing: { by: 'flat' }, defaultAddress: null },
  { network: EVM, ticker: 'MON', decimals: 18, pricing: oracle('MON'), defaultAddress: EVM.nativeAsset },
  { network: EVM, ticker: 'USDC', decimals: 6, pricing: DOLLAR, defaultAddress: EVM_USDC },
  { network: EVM, ticker: 'USDT0', decimals: 6, pricing: DOLLAR, defaultAddress: null },
  { network: EVM, ticker: 'WETH', decimals: 18, pricing: oracle('ETH'), defaultAddress: null },
]

/** Tickers in any case (AMB-14). */
export function findAsset(network: Network, ticker: string): Asset | null {
  // Lower case, because the upper case of 'ſ' is 'S': 'uſdc' is no ticker.
  const wanted = ticker.toLowerCase()
  return ASSETS.find((asset) => asset.network === network && asset.ticker.toLowerCase() === wanted) ?? null
}

function oracle(symbol: OracleSymbol): Pricing {
  return { by: 'oracle', symbol }
}
