import { EVM, type Network, PRIMARY } from '@svc/api/networks'
import type { SalesSecrets } from '@svc/payments/selling/settings'
import type { Context } from '../context.ts'
import { createSignOffers, type SignOffers } from './extensions/offer-receipt.ts'
import type { X402Secrets } from './settings.ts'
import type { Settler } from './settler.ts'

export interface X402Context extends Context {
  /** One for each chain that has a key to send payments with. */
  settlers: ReadonlyMap<Network, Settler>
  signOffers: SignOffers
}

/** Imports the x402 libraries only where they are used: they would slow down every start of a gateway. */
export async function createX402(
  context: Context,
  { svmFeePayerSeed, evmFacilitatorKey, primaryRpcUrls, evmRpcUrls }: X402Secrets & SalesSecrets,
): Promise<X402Context> {
  const { primary, evm } = context.config.payments
  const settlers = new Map<Network, Settler>()
  if (svmFeePayerSeed) {
    const { createSolanaSettler } = await import('./solana-settler.ts')
    settlers.set(
      PRIMARY,
      createSolanaSettler({ rpcUrls: primaryRpcUrls, quorum: primary?.quorum ?? 1, seed: svmFeePayerSeed }),
    )
  }
  if (evmFacilitatorKey) {
    const { createEvmSettler } = await import('./evm-settler.ts')
    settlers.set(EVM, createEvmSettler({ rpcUrls: evmRpcUrls, quorum: evm?.quorum ?? 1, key: evmFacilitatorKey }))
  }
  return { ...context, settlers, signOffers: createSignOffers(context) }
}
