// Amounts in display units, and known assets.

import { ASSETS, type Asset } from '@svc/api/assets'
import type { PaymentLeg } from '@svc/api/quote'
import type { NetworkFee } from './wallets/wallet.ts'

/** Converts atomic units to display units: 1663894 with 9 decimals is 0.001663894. */
export function amountText(atomic: bigint, decimals: number): string {
  const digits = atomic.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction ? `${whole}.${fraction}` : whole
}

/** A network's fee as text: `at most 0.0042 MON`. */
export function feeText({ amount, ticker, decimals }: NetworkFee): string {
  return `at most ${amountText(amount, decimals)} ${ticker}`
}

/** The reverse of `amountText`, rounded down to an atomic unit. Null for text in a form other than `2` or `0.25`. */
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

/** The assets with a declared address. Others have their address in the settings of a service. */
export function knownAssets(assets: readonly Asset[]): KnownAsset[] {
  return assets.flatMap(({ network: { caip2: network }, address, ticker, decimals }) =>
    typeof address === 'string' ? [{ network, ticker, decimals, address: comparable(network, address) }] : [],
  )
}

export const KNOWN_ASSETS: readonly KnownAsset[] = knownAssets(ASSETS)

/** Null for an asset that is known only from the service's description. */
export function knownAsset({ network, asset }: Pick<PaymentLeg, 'network' | 'asset'>): KnownAsset | null {
  const address = comparable(network, asset)
  return KNOWN_ASSETS.find((known) => known.network === network && known.address === address) ?? null
}

/** EVM addresses are case-insensitive; others are not. */
function comparable(network: string, address: string): string {
  return network.startsWith('eip155:') ? address.toLowerCase() : address
}
