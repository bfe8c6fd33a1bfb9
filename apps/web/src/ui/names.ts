// The names of networks and storage providers that people know, and amounts that they can read.

import type { Provider } from '@svc/api/providers'

const NETWORK_TITLES: Readonly<Record<string, string>> = {
  'primary-mainnet': 'Solana',
  solana: 'Solana',
  'evm-mainnet': 'Monad',
  'eip155:143': 'Monad',
}

/** The title of a network, by its friendly name or its CAIP-2 id. Other names are shown as they are. */
export function networkTitle(network: string): string {
  const [family = '', chain] = network.split(':')
  return NETWORK_TITLES[network] ?? NETWORK_TITLES[family] ?? (family === 'eip155' ? `EVM ${chain}` : network)
}

const PROVIDER_TITLES: Readonly<Record<Provider, string>> = {
  gcs: 'Google Cloud Storage',
  mongodb: 'MongoDB',
  storj: 'Storj',
  arweave: 'Arweave',
  filecoin: 'Filecoin',
  firestore: 'Firestore',
}

export function providerTitle(provider: string): string {
  return PROVIDER_TITLES[provider as Provider] ?? provider
}

const DIGITS = 6

/** A decimal amount with at most six significant digits, rounded up: a price must not look lower than it is. */
export function shortAmount(amount: string): string {
  const found = /^(\d+)\.(\d+)$/.exec(amount)
  if (!found) return amount
  const [, whole = '', fraction = ''] = found
  const zeros = whole === '0' ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0
  const places = Math.max(0, whole === '0' ? zeros + DIGITS : DIGITS - whole.length)
  if (fraction.length <= places) return amount
  const kept = BigInt(whole + fraction.slice(0, places))
  const isRounded = /[1-9]/.test(fraction.slice(places))
  const digits = String(kept + (isRounded ? 1n : 0n)).padStart(places + 1, '0')
  const at = digits.length - places
  return places === 0 ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`.replace(/\.?0+$/, '')
}
