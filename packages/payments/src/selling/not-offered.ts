// Why assets cannot be paid with at the moment, and what the admin can do about it.

import { type Asset, type OraclePrice, tokenKey } from '@svc/api/assets'
import type { NotOffered } from '@svc/api/info'
import type { Network } from '@svc/api/networks'
import type { Leg } from '../legs.ts'
import { settingsOf } from './settings.ts'

export interface LegStates {
  /** All known assets. */
  assets: readonly Asset[]
  legs: readonly Leg[]
  isConfigured(network: Network): boolean
  /** Legs whose token account does not exist; null until a node has answered. */
  tokenAccountOf(leg: Leg): 'exists' | 'missing' | 'unknown'
  decimalsProblems: ReadonlyMap<Leg, string>
  /** The symbols of coins without a price. */
  unpriced: readonly string[]
}

/** In the order of the assets. A leg may have several reasons. */
export function listNotOffered({ assets, legs, isConfigured, ...states }: LegStates): NotOffered[] {
  return assets.flatMap((asset): NotOffered[] => {
    const named = { network: asset.network.name, asset: asset.ticker }
    if (!isConfigured(asset.network)) {
      const message = `${settingsOf(asset.network).join(' and ')} are not set: nothing is sold on ${named.network}`
      return [{ ...named, reason: 'chain_not_configured', message }]
    }
    const leg = legs.find(({ of }) => of === asset)
    if (!leg) {
      const message = `TOKENS has no ${tokenKey(asset)}=…: ${asset.ticker} on ${named.network} is left out of quotes`
      return [{ ...named, reason: 'asset_not_configured', message }]
    }
    return reasonsOf(leg, states).map((reason) => ({ ...named, ...reason }))
  })
}

type Reason = Pick<NotOffered, 'reason' | 'message'>

function reasonsOf(
  leg: Leg,
  { tokenAccountOf, decimalsProblems, unpriced }: Pick<LegStates, 'tokenAccountOf' | 'decimalsProblems' | 'unpriced'>,
): Reason[] {
  const { pricing } = leg.of
  const account = tokenAccountOf(leg)
  const decimals = decimalsProblems.get(leg)
  const price = pricing.by === 'oracle' && unpriced.includes(pricing.symbol) ? pricing : null
  return [
    ...(account === 'missing' ? [{ reason: 'token_account_missing' as const, message: withoutAccount(leg) }] : []),
    ...(account === 'unknown' ? [{ reason: 'token_account_unknown' as const, message: unknownAccount(leg) }] : []),
    ...(decimals ? [{ reason: 'decimals' as const, message: `${decimals}: it is left out of quotes` }] : []),
    ...(price ? [{ reason: 'no_price' as const, message: withoutPrice(price) }] : []),
  ]
}

/** Reasons that need attention. Which chains and assets a service sells for is its admin's choice. */
export function warningsOf(notOffered: readonly NotOffered[]): string[] {
  const chosen: readonly NotOffered['reason'][] = ['chain_not_configured', 'asset_not_configured']
  return [...new Set(notOffered.filter(({ reason }) => !chosen.includes(reason)).map(({ message }) => message))]
}

function withoutAccount({ of, asset, wallet, payTo }: Leg): string {
  return `the treasury has no token account for ${of.ticker} on ${of.network.name} (${payTo}): it is left out of quotes until the account exists. Anyone can create it: spl-token create-account ${asset} --owner ${wallet} --fee-payer KEYPAIR.json`
}

function unknownAccount({ of }: Leg): string {
  return `no node of ${of.network.name} has reported yet whether the treasury has a token account for ${of.ticker}: it is left out of quotes`
}

function withoutPrice(price: OraclePrice): string {
  return `no price of ${price.symbol} is known: it is left out of quotes until ORACLE_URL provides one or FALLBACK_USD contains ${price.symbol}=…`
}
