// The ways to pay that a deployment has set up, and which of them a buyer means.

import { address } from '@solana/kit'
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { Asset } from '@svc/api/assets'
import { type Network, networkNamed } from '@svc/api/networks'
import type { Destination } from './payment.ts'

export interface Leg extends Destination {
  of: Asset
  /** The treasury; of tokens of the Solana family, the owner of `payTo`. */
  wallet: string
}

export interface LegSettings {
  /** Wallet that is paid, by network; a network without one takes no payments. */
  treasuries: ReadonlyMap<Network, string>
  /** What may be sold, in the order of the legs: the first is the default leg of a quote that covers all (PAY-04). */
  assets: readonly ConfiguredAsset[]
}

export interface ConfiguredAsset {
  of: Asset
  /** Mint or contract; null while the setting that names it is empty. */
  address: string | null
}

/** Without those whose network takes no payments, and those without an address. */
export async function configuredLegs({ treasuries, assets }: LegSettings): Promise<Leg[]> {
  const legs = assets.map(async ({ of, address: asset }): Promise<Leg | null> => {
    const wallet = treasuries.get(of.network)
    return wallet && asset ? { of, asset, payTo: await paymentAddress(of.network, wallet, asset), wallet } : null
  })
  return (await Promise.all(legs)).filter((leg) => leg !== null)
}

/** Tokens of the Solana family are paid to the treasury's token account, everything else to the treasury (PAY-19). */
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

/** All legs that fit what a buyer names of network and asset. */
export function chooseLegs<L extends { of: Asset }>(legs: readonly L[], choice: LegChoice): ChosenLegs<L> {
  const network = choice.pay_network === undefined ? null : networkNamed(choice.pay_network)
  if (choice.pay_network !== undefined && !network) return { outcome: 'unknown_network' }
  const ticker = choice.pay_asset?.toLowerCase()
  const fitting = legs.filter(
    ({ of }) => (!network || of.network === network) && (ticker === undefined || of.ticker.toLowerCase() === ticker),
  )
  return fitting.length > 0 ? { outcome: 'chosen', legs: fitting } : { outcome: 'not_offered' }
}

/** What an error says of a pair that is not there: the asset in capitals, the network as it was named (PAY-47). */
export function notInQuote(choice: LegChoice, defaultNetwork: string): string {
  return `${(choice.pay_asset ?? 'ANY').toUpperCase()} on ${choice.pay_network ?? defaultNetwork} not in quote`
}
