// The dollar value of a payment. It ignores the gateway's own figures: the limits also protect against the gateway.

import { type Asset, coinOf, findAsset, isCoin } from '@svc/api/assets'
import { NETWORKS, networkNamed } from '@svc/api/networks'
import type { PaymentLeg } from '@svc/api/quote'
import type { NetworkFee } from '@svc/sdk'
import { amountText, atomicAmount, KNOWN_ASSETS, type KnownAsset, knownAsset } from '@svc/sdk/money'

/** In millionths of a dollar. */
export interface Limits {
  perPurchase: bigint
  perDay: bigint
  /** The price of a whole coin, by ticker; a coin without a price is not spent. */
  coins: Readonly<Record<string, bigint | null>>
}

/** The coins that network fees are paid in. */
export const COINS = NETWORKS.map(coinOf)

/** Tokens that are worth a dollar, at addresses that do not depend on the gateway. */
export const DOLLAR_TOKENS = [
  ...new Set(KNOWN_ASSETS.filter((known) => assetOf(known)?.pricing.by === 'usd').map(({ ticker }) => ticker)),
]

const DOLLAR = 1_000_000n

/** In millionths of a dollar, rounded up; null for an asset without a known price. */
export function dollarsOf(leg: PaymentLeg, { coins }: Limits): bigint | null {
  const known = knownAsset(leg)
  const asset = known && assetOf(known)
  if (!asset) return null
  const worth = asset.pricing.by === 'usd' ? DOLLAR : isCoin(asset) ? coins[asset.ticker] : null
  return worth ? worthOf(BigInt(leg.amount), worth, asset.decimals) : null
}

/**
 * The dollar value of a coin in a fee while no price is set. The fee on a Solana-family chain is fixed and far below a
 * cent. On an EVM chain a node sets it: the value is higher than the real cost, so that the limits hold.
 */
const UNPRICED = { solana: 0n, evm: DOLLAR }

/** A network fee in millionths of a dollar, rounded up; null for an unknown coin. */
export function dollarsOfFee({ amount, ticker, decimals }: NetworkFee, { coins }: Limits): bigint | null {
  const coin = COINS.find((one) => one.ticker === ticker)
  return coin ? worthOf(amount, coins[ticker] ?? UNPRICED[coin.network.family], decimals) : null
}

function assetOf({ network: id, ticker }: KnownAsset): Asset | null {
  const network = networkNamed(id)
  return network && findAsset(network, ticker)
}

function worthOf(amount: bigint, worth: bigint, decimals: number): bigint {
  const whole = 10n ** BigInt(decimals)
  return (amount * worth + whole - 1n) / whole
}

const DECIMALS = 6

/** Parses text like `2` or `0.25`; null for anything else. */
export function microDollars(text: string): bigint | null {
  return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? atomicAmount(text, DECIMALS) : null
}

/** `0.25`, with at least two digits after the point. */
export function dollarText(micro: bigint): string {
  const [whole = '', fraction = ''] = amountText(micro, DECIMALS).split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}
