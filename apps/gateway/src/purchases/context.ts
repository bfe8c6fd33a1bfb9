// What the room that sells keeps between requests, besides the tools that every room has.

import type { Network } from '@svc/api/networks'
import type { Provider } from '@svc/api/purchases'
import { type Lru, lru } from '@svc/concurrency/caches'
import { together } from '@svc/database/commit'
import type { QuoteCharges } from '@svc/payments/selling/mpp/challenge'
import type { Market } from '@svc/payments/selling/price-legs'
import type { QuoteTemplate } from '@svc/payments/selling/quote-template'
import type { SalesSecrets } from '@svc/payments/selling/settings'
import type { Context } from '../context.ts'
import type { KeysAt } from '../keys/signing-keys.ts'
import { type LocalChains, openLocalChains } from './dev-faucet.ts'
import type { Settler } from './protocols/x402/settler.ts'
import type { X402Secrets } from './settings.ts'
import { insertQuotes, type NewQuote, type StorableTemplate } from './store.ts'

export interface PurchasesContext extends Context {
  keysAt: KeysAt
  /** By order. A leg or a rate that changes makes another market. */
  templates: WeakMap<Market, Lru<string, OrderTemplate>>
  /** When this process last stored a template, by its id. */
  templateStoredAt: Lru<string, number>
  /** Durable when it resolves. Its template must be stored. */
  insertQuote: (quote: NewQuote) => Promise<void>
  /** Up to which transaction a page has read those that name the reference of a quote, by quote. */
  passed: Lru<string, string>
  /** What sends signed payments, for each chain that has a key to send them with. */
  settlers: ReadonlyMap<Network, Settler>
  /** Of x402 offers, by what they say. */
  offerSignatures: Lru<string, string>
  /** Null unless this gateway is for development, with chains on this machine. */
  localChains: LocalChains | null
}

/** Quotes for one order at one market are filled into it. */
export interface OrderTemplate extends QuoteTemplate {
  provider: Provider
  units: number
  stored: StorableTemplate
  charges: QuoteCharges
}

const MAX_STORED_TEMPLATES = 5000
const MAX_OFFERS = 1000
/** Of quotes whose buyers wait for a payment by Solana Pay. */
const MAX_PASSED = 10_000

export async function createPurchases(
  context: Context,
  { keysAt }: Pick<PurchasesContext, 'keysAt'>,
  secrets: SalesSecrets & X402Secrets,
): Promise<PurchasesContext> {
  return {
    ...context,
    keysAt,
    templates: new WeakMap(),
    templateStoredAt: lru(MAX_STORED_TEMPLATES),
    insertQuote: insertTogether(context),
    passed: lru(MAX_PASSED),
    settlers: await openSettlers(context, secrets),
    offerSignatures: lru(MAX_OFFERS),
    localChains: openLocalChains(context, secrets),
  }
}

function insertTogether({ database }: Context): PurchasesContext['insertQuote'] {
  return together(
    database.commit,
    async (tx, quotes: readonly NewQuote[]) => {
      await insertQuotes(tx, quotes)
      return quotes.map(() => undefined)
    },
    { isOneStatement: true },
  )
}

/** Imports the x402 libraries only where they are used: they would slow down every start of a gateway. */
async function openSettlers(
  { config }: Context,
  { svmFeePayerSeed, evmFacilitatorKey, rpcUrls }: SalesSecrets & X402Secrets,
): Promise<PurchasesContext['settlers']> {
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
