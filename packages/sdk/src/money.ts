// Amounts as people write them, and well-known assets.

import type { PaymentLeg } from '@svc/api/quote'
import type { NetworkFee } from './wallets/wallet.ts'

/** Atomic units as people write them: 1663894 with 9 decimals is 0.001663894. */
export function amountText(atomic: bigint, decimals: number): string {
  const digits = atomic.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction ? `${whole}.${fraction}` : whole
}

/** A network's fee as people read it: `at most 0.0042 MON`. */
export function feeText({ amount, ticker, decimals }: NetworkFee): string {
  return `at most ${amountText(amount, decimals)} ${ticker}`
}

/** The reverse of `amountText`, rounded down to an atomic unit; null for text that is not like `2` or `0.25`. */
export function atomicAmount(text: string, decimals: number): bigint | null {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text)
  if (!match) return null
  const [, whole = '', fraction = ''] = match
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
}

/** A well-known coin or token. A service cannot ask for another asset under its name. */
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

/** Null for an asset that only the service describes. */
export function knownAsset({ network, asset }: Pick<PaymentLeg, 'network' | 'asset'>): KnownAsset | null {
  // EVM addresses mean the same in any case; others do not.
  const address = network.startsWith('eip155:') ? asset.toLowerCase() : asset
  return KNOWN_ASSETS.find((known) => known.network === network && known.address === address) ?? null
}
