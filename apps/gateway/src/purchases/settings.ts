// Settings of purchases: prices, terms, the locker limit, and the keys that send x402 payments.

import { NETWORKS, type Network } from '@svc/api/networks'
import { isSlow, PROVIDERS, type Provider } from '@svc/api/providers'
import type { Terms } from '@svc/api/purchases'
import {
  readPrices,
  readSalesConfig,
  type SalesConfig,
  type SalesSecrets,
  settingsOf,
} from '@svc/payments/selling/settings'
import { readInteger, type SettingsReader } from '@svc/service/program/config'
import { readEvmKey } from '@svc/service/program/evm-keys'
import { readOptionalKey } from '@svc/service/program/keys'
import { readRetentionDays } from '../continuity/settings.ts'

export interface PaymentConfig extends SalesConfig {
  /** USD for one unit, as decimal text. */
  unitPrices: Record<Provider, string>
  /** For one unit. */
  terms: Record<Provider, Terms>
  maxLockersPerOwner: number
  /** How long an unpaid quote is stored. */
  unpaidQuoteSeconds: number
  /** Watches for payments with Solana Pay codes. */
  watch: {
    /** Queries to the nodes, by all replicas together; 0 disables watches. */
    callsPerMinute: number
    /** The limit for watched quotes. */
    maxQuotes: number
  }
}

const GIBIBYTE = 1_073_741_824
const DEFAULT_TERMS: Terms = {
  storage_limit_bytes: GIBIBYTE,
  file_limit: 1000,
  egress_included_bytes: GIBIBYTE,
  ttl_days: 365,
}

export function readPaymentConfig(settings: SettingsReader, isProduction: boolean): [PaymentConfig, SalesSecrets] {
  const [sales, secrets] = readSalesConfig(settings, isProduction)
  const config = {
    ...sales,
    // The defaults contain all prices.
    unitPrices: readPrices(settings, 'UNIT_PRICES_USD', PROVIDERS) as PaymentConfig['unitPrices'],
    terms: terms(settings),
    maxLockersPerOwner: settings.integer('MAX_LOCKERS_PER_OWNER', { min: 1, max: 1_000_000 }),
    unpaidQuoteSeconds: readRetentionDays(settings, 'unpaid_quotes') * 86_400,
    watch: readWatch(settings),
  }
  return [config, secrets]
}

/** Adds a notice to the terms of a provider whose files are on the gateway's own disk (ADD-12). */
export function withStorageNotice(
  terms: PaymentConfig['terms'],
  drivers: Partial<Record<Provider, 'local' | 'own'>>,
): PaymentConfig['terms'] {
  const entries = PROVIDERS.map((provider) => {
    const isLocal = drivers[provider] === 'local'
    return [provider, isLocal ? { ...terms[provider], storage: 'gateway' } : terms[provider]]
  })
  return Object.fromEntries(entries)
}

/** Adds a notice to the terms that writes beyond them are rejected (T-56). */
export function withEnforcedNotice(terms: PaymentConfig['terms'], isEnforced: boolean): PaymentConfig['terms'] {
  if (!isEnforced) return terms
  const entries = PROVIDERS.map((provider) => [provider, { ...terms[provider], enforced: true }])
  return Object.fromEntries(entries)
}

function readWatch(settings: SettingsReader): PaymentConfig['watch'] {
  const watch = settings.pairs('PAYMENT_WATCH', ['calls_per_minute', 'quotes'])
  const [calls = '', quotes = ''] = [watch.get('calls_per_minute')?.at(-1), watch.get('quotes')?.at(-1)]
  return {
    callsPerMinute: readInteger(settings, 'PAYMENT_WATCH: calls_per_minute', calls, { min: 0, max: 60_000 }),
    maxQuotes: readInteger(settings, 'PAYMENT_WATCH: quotes', quotes, { min: 1, max: 1_000_000 }),
  }
}

/** How long a caller waits for a chain before the answer states that the outcome is unknown. */
export function readWait(settings: SettingsReader, what: 'anchor' | 'x402'): number {
  const seconds = settings.pairs('CHAIN_WAIT_SECONDS', ['anchor', 'x402']).get(what)?.at(-1) ?? ''
  return readInteger(settings, `CHAIN_WAIT_SECONDS: ${what}`, seconds, { min: 0, max: 300 })
}

function terms(settings: SettingsReader): Record<Provider, Terms> {
  const text = settings.text('TERMS')
  let given: Partial<Record<string, Partial<Terms>>> = {}
  try {
    given = JSON.parse(text)
  } catch {
    settings.problem('TERMS must be JSON, for example {"gcs":{"ttl_days":30}}')
  }
  for (const [provider, changes] of Object.entries(given)) {
    const isKnown = PROVIDERS.some((name) => name === provider)
    const keys = Object.keys(defaultTerms(provider, changes))
    const areTerms = Object.entries(changes ?? {}).every(
      ([key, value]) => keys.includes(key) && Number.isSafeInteger(value) && Number(value) > 0,
    )
    if (!isKnown || !areTerms)
      settings.problem(`TERMS contains an unknown key under "${provider}": the allowed keys are ${keys.join(', ')}`)
  }
  return Object.fromEntries(
    PROVIDERS.map((provider) => [provider, { ...defaultTerms(provider, given[provider]), ...given[provider] }]),
  ) as Record<Provider, Terms>
}

/** Slow providers never delete and charge for each stored byte: the sold storage is the most that may be delivered. */
function defaultTerms(provider: string, given: Partial<Terms> = {}): Terms {
  if (!PROVIDERS.some((name) => name === provider && isSlow(name))) return DEFAULT_TERMS
  return { ...DEFAULT_TERMS, settled_limit_bytes: given.storage_limit_bytes ?? DEFAULT_TERMS.storage_limit_bytes }
}

export interface X402Config {
  /** Whether there is a key to send payments. */
  isOpen: boolean
  /** Whether there is a key for EVM chains, where payments are authorizations that anyone may send. */
  takesAuthorizations: boolean
  /** How long a request waits for the chain before it answers that the payment is pending. */
  waitSeconds: number
}

export interface X402Secrets {
  svmFeePayerSeed: Uint8Array | null
  evmFacilitatorKey: Uint8Array | null
}

/** A family without a key accepts no signed payments. The keys also pay the network fees. */
export function readX402Settings(
  settings: SettingsReader,
  { chains }: Pick<SalesConfig, 'chains'>,
  isProduction: boolean,
): [X402Config, X402Secrets] {
  const svmFeePayerSeed = readOptionalKey(settings, 'X402_SVM_FEE_PAYER_KEY', isProduction)
  const evmFacilitatorKey = readEvmKey(settings, 'X402_EVM_FACILITATOR_KEY', isProduction)
  if (svmFeePayerSeed) requireChain('X402_SVM_FEE_PAYER_KEY', 'solana')
  if (evmFacilitatorKey) requireChain('X402_EVM_FACILITATOR_KEY', 'evm')
  const waitSeconds = readWait(settings, 'x402')
  const isOpen = svmFeePayerSeed !== null || evmFacilitatorKey !== null
  return [
    { isOpen, takesAuthorizations: evmFacilitatorKey !== null, waitSeconds },
    { svmFeePayerSeed, evmFacilitatorKey },
  ]

  function requireChain(key: string, family: Network['family']): void {
    const ofFamily = NETWORKS.filter((network) => network.family === family)
    if (ofFamily.some((network) => chains.has(network))) return
    settings.problem(`${key} needs ${ofFamily.map((network) => settingsOf(network)[0]).join(' or ')}`)
  }
}
