import type { Price } from '@svc/api/purchases'
import { UsageError } from '../failures.ts'
import type { Key } from '../wallet/key.ts'

/** The first key that can pay in the asset that is wanted. */
export function payingKey(keys: readonly Key[], { amounts }: Price, asset: string | undefined): Key {
  const offers = amounts.filter(({ pay_asset }) => asset === undefined || pay_asset === asset)
  if (offers.length === 0) {
    const offered = [...new Set(amounts.map(({ pay_asset }) => pay_asset))].join(', ')
    throw new UsageError(`this gateway does not take ${asset}`, `it takes ${offered}`)
  }
  const key = keys.find(({ namespace }) => offers.some(({ network }) => network.startsWith(`${namespace}:`)))
  if (key) return key
  const held = keys.map(({ address, from }) => `${address} (${from})`).join(', ')
  throw new UsageError(
    keys.length === 0 ? 'buying needs a wallet' : `${asset ?? 'what is asked'} cannot be paid by ${held}`,
    'give a Solana keypair or an EVM key with --wallet FILE; SVC_WALLET and SVC_EVM_KEY work too',
  )
}
