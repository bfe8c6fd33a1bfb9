import type { Network } from '@svc/api/networks'
import { type Lru, lru } from '@svc/concurrency/caches'
import type { SalesSecrets } from '@svc/payments/selling/settings'
import type { Context } from '../context.ts'
import { type LocalChains, openLocalChains } from './dev-faucet.ts'
import type { Settler } from './protocols/x402/settler.ts'
import { createQuotes, type Quotes } from './quote.ts'
import type { X402Secrets } from './settings.ts'

interface PurchasesState {
  quotes: Quotes
  /** The last transaction of a quote's reference that a page has read, by quote. */
  passed: Lru<string, string>
  /** The senders of signed payments, for each chain that has a key. */
  settlers: ReadonlyMap<Network, Settler>
  /** Signed x402 offers, by content. */
  offerSignatures: Lru<string, string>
  /** Null unless this gateway is for development and its chains are on this machine. */
  localChains: LocalChains | null
}

declare module '../context.ts' {
  interface Context extends PurchasesState {}
}

const MAX_OFFERS = 1000
/** Quotes whose buyers wait for a payment by Solana Pay. */
const MAX_PASSED = 10_000

export async function openPurchases(context: Context, secrets: SalesSecrets & X402Secrets): Promise<PurchasesState> {
  return {
    quotes: createQuotes(context),
    passed: lru(MAX_PASSED),
    settlers: await openSettlers(context, secrets),
    offerSignatures: lru(MAX_OFFERS),
    localChains: openLocalChains(context, secrets),
  }
}

/** Imports the x402 libraries only if they are used: they would slow down every start of a gateway. */
async function openSettlers(
  { config }: Context,
  { svmFeePayerSeed, evmFacilitatorKey, rpcUrls }: SalesSecrets & X402Secrets,
): Promise<PurchasesState['settlers']> {
  const settlers = new Map<Network, Settler>()
  for (const [network, { quorum }] of config.payments.chains) {
    const nodes = { rpcUrls: rpcUrls.get(network) ?? [], quorum }
    if (network.family === 'solana' && svmFeePayerSeed) {
      const { createSolanaSettler } = await import('./protocols/x402/solana-settler.ts')
      settlers.set(network, createSolanaSettler(network, nodes, svmFeePayerSeed))
    }
    if (network.family === 'evm' && evmFacilitatorKey) {
      const { createEvmSettler } = await import('./protocols/x402/evm-settler.ts')
      settlers.set(network, createEvmSettler(network, nodes, evmFacilitatorKey))
    }
  }
  return settlers
}
