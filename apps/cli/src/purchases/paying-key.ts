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
  if (keys.length === 0)
    throw new UsageError(
      'a payment needs a wallet',
      'give a Solana keypair or an EVM key with --wallet FILE; SVC_WALLET and SVC_EVM_KEY work too',
    )
  const available = keys.map(({ address, from }) => `${address} (${from})`).join(', ')
  const [kind, where] = wanted.some(({ network }) => network.startsWith('eip155:'))
    ? ['an EVM key', 'SVC_EVM_KEY or --wallet FILE']
    : ['a Solana keypair', 'SVC_WALLET or --wallet FILE']
  throw new UsageError(
    `${shown(asset ?? 'paying here')} needs ${kind}, which ${available} is not`,
    `give one with ${where}`,
  )
}
