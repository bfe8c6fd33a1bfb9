// The payment options of a deployment, and the one that a buyer chooses.

import { address } from '@solana/kit'
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { Asset } from '@svc/api/assets'
import { type Network, networkNamed } from '@svc/api/networks'
import type { Destination } from './payment.ts'

export interface Leg extends Destination {
  of: Asset
  /** The treasury; for tokens of the Solana family, the owner of `payTo`. */
  wallet: string
}

export interface LegSettings {
  /** The wallet to be paid, by network; a network without one accepts no payments. */
  treasuries: ReadonlyMap<Network, string>
  /**
   * The assets for sale, in the order of the legs: the first is the default leg of a quote that covers all (PAY-04).
   */
  assets: readonly ConfiguredAsset[]
}

export interface ConfiguredAsset {
  of: Asset
  /** The mint or contract; null while its setting is empty. */
  address: string | null
}

/** Leaves out assets whose network accepts no payments, and those without an address. */
export async function configuredLegs({ treasuries, assets }: LegSettings): Promise<Leg[]> {
  const legs = assets.map(async ({ of, address: asset }): Promise<Leg | null> => {
    const wallet = treasuries.get(of.network)
    return wallet && asset ? { of, asset, payTo: await paymentAddress(of.network, wallet, asset), wallet } : null
  })
  return (await Promise.all(legs)).filter((leg) => leg !== null)
}

/** Tokens of the Solana family are paid to the treasury's token account, all other assets to the treasury (PAY-19). */
async function paymentAddress(network: Network, treasury: string, asset: string): Promise<string> {
  if (network.family === 'evm' || asset === network.nativeAsset) return treasury
  const [account] = await findAssociatedTokenPda({
    owner: address(treasury),
    mint: address(asset),
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  })
  return account
}

export interface LegChoice {
  pay_network?: string | undefined
  pay_asset?: string | undefined
}

export type ChosenLegs<L> =
  | { outcome: 'chosen'; legs: L[] }
  | { outcome: 'unknown_network' }
  | { outcome: 'not_offered' }

/** All legs that match the buyer's choice of network and asset. */
export function chooseLegs<L extends { of: Asset }>(legs: readonly L[], choice: LegChoice): ChosenLegs<L> {
  const network = choice.pay_network === undefined ? null : networkNamed(choice.pay_network)
  if (choice.pay_network !== undefined && !network) return { outcome: 'unknown_network' }
  const ticker = choice.pay_asset?.toLowerCase()
  const matching = legs.filter(
    ({ of }) => (!network || of.network === network) && (ticker === undefined || of.ticker.toLowerCase() === ticker),
  )
  return matching.length > 0 ? { outcome: 'chosen', legs: matching } : { outcome: 'not_offered' }
}

/** The error text for a pair that is not offered: the asset in capitals, the network as the buyer named it (PAY-47). */
export function notInQuote(choice: LegChoice, defaultNetwork: string): string {
  return `${(choice.pay_asset ?? 'ANY').toUpperCase()} on ${choice.pay_network ?? defaultNetwork} not in quote`
}
