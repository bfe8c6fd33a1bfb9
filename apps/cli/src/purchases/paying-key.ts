import { UsageError } from '../errors.ts'
import { shown } from '../output/shown.ts'
import type { Key } from '../setup/wallet.ts'

/** An asset that the seller accepts. */
export interface Offer {
  ticker: string
  /** CAIP-2 id. */
  network: string
}

/** The first key that can pay in the wanted asset. */
export function payingKey(keys: readonly Key[], offers: readonly Offer[], asset: string | undefined): Key {
  const wanted = offers.filter(({ ticker }) => asset === undefined || ticker === asset)
  if (wanted.length === 0) {
    const offered = [...new Set(offers.map(({ ticker }) => ticker))].join(', ')
    throw new UsageError(`this service does not accept ${asset}`, `it accepts ${shown(offered)}`)
  }
  const key = keys.find(({ namespace }) => wanted.some(({ network }) => network.startsWith(`${namespace}:`)))
  if (key) return key
  const held = keys.map(({ address, from }) => `${address} (${from})`).join(', ')
  throw new UsageError(
    keys.length === 0 ? 'paying needs a wallet' : `${asset ?? 'what is asked'} cannot be paid by ${held}`,
    'give a Solana keypair or an EVM key with --wallet FILE; SVC_WALLET and SVC_EVM_KEY work too',
  )
}
