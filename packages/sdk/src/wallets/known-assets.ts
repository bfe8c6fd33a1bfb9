// Coins and tokens that everybody knows by their addresses. What a service calls them is held against these: else it
// could ask for one thing by the name of another.

import type { PaymentLeg } from '@svc/api/quote'

export interface KnownAsset {
  /** CAIP-2 id. */
  network: string
  address: string
  ticker: string
  decimals: number
}

const PRIMARY = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const EVM = 'eip155:143'

export const KNOWN_ASSETS: readonly KnownAsset[] = [
  { network: PRIMARY, ticker: 'SOL', decimals: 9, address: 'So11111111111111111111111111111111111111112' },
  { network: PRIMARY, ticker: 'USDC', decimals: 6, address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
  { network: PRIMARY, ticker: 'USDT', decimals: 6, address: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB' },
  { network: PRIMARY, ticker: 'WETH', decimals: 8, address: '7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs' },
  { network: EVM, ticker: 'MON', decimals: 18, address: '0x0000000000000000000000000000000000000000' },
  { network: EVM, ticker: 'USDC', decimals: 6, address: '0x754704bc059f8c67012fed69bc8a327a5aafb603' },
]

/** Null for one that is only what a service calls it. */
export function knownAsset({ network, asset }: Pick<PaymentLeg, 'network' | 'asset'>): KnownAsset | null {
  // Only addresses of EVM chains mean the same in any case.
  const address = network.startsWith('eip155:') ? asset.toLowerCase() : asset
  return KNOWN_ASSETS.find((known) => known.network === network && known.address === address) ?? null
}
