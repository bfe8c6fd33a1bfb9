import { EVM, type Network, PRIMARY } from '@svc/payments/networks'
import type { SalesSecrets } from '@svc/sales/settings'
import type { X402Secrets } from './settings.ts'
import type { Settler } from './settler.ts'

/** One for each chain that has a key to send payments with. */
export type Settlers = ReadonlyMap<Network, Settler>

/** Loads the libraries only where they are used: they would slow down every start of a gateway. */
export async function openSettlers(secrets: X402Secrets & SalesSecrets): Promise<Settlers> {
  const settlers = new Map<Network, Settler>()
  if (secrets.svmFeePayerSeed) {
    const { createSvmSettler } = await import('./solana-settler.ts')
    settlers.set(PRIMARY, createSvmSettler({ rpcUrls: secrets.primaryRpcUrls, seed: secrets.svmFeePayerSeed }))
  }
  if (secrets.evmFacilitatorKey) {
    const { createEvmSettler } = await import('./evm-settler.ts')
    settlers.set(EVM, createEvmSettler({ rpcUrls: secrets.evmRpcUrls, key: secrets.evmFacilitatorKey }))
  }
  return settlers
}
