// The names of networks and storage providers that people know, and amounts that they can read.

import { NETWORKS, networkNamed } from '@svc/api/networks'
import { PROVIDER_FACTS, type Provider } from '@svc/api/providers'

/** The title of a network, by its friendly name or its CAIP-2 id. Local chains have other ids of the same families. */
export function networkTitle(network: string): string {
  const [family = '', chain] = network.split(':')
  const known = networkNamed(network) ?? NETWORKS.find((each) => each.family === family)
  return known?.title ?? (family === 'eip155' ? `EVM ${chain}` : network)
}

export function providerTitle(provider: string): string {
  return (PROVIDER_FACTS[provider as Provider] as { title: string } | undefined)?.title ?? provider
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
