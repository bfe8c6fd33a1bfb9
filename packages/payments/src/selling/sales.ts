// Everything that selling needs besides a database: legs, chain readers, prices. Built once at start.

import { setTimeout } from 'node:timers/promises'
import { pricesOf } from '@svc/api/assets'
import type { NotOffered } from '@svc/api/info'
import { EVM, type Network, PRIMARY } from '@svc/api/networks'
import type { Log } from '@svc/http-service/log'
import type { BalanceReader } from '../balance-reader.ts'
import { type DecimalsWatch, type ReadDecimals, watchDecimals } from '../decimals.ts'
import { createEvmBalanceReader } from '../evm/balance-reader.ts'
import { connectEvm } from '../evm/nodes.ts'
import { createEvmPayerNode, type EvmPayerNode } from '../evm/payer-node.ts'
import { createEvmPaymentReader } from '../evm/payment-reader.ts'
import { createEvmDecimalsReader } from '../evm/token-decimals.ts'
import { configuredLegs, type Leg } from '../legs.ts'
import { createChainProbe } from '../nodes/node-pool.ts'
import type { PaymentReader } from '../payment.ts'
import { createHermesSource } from '../prices/hermes.ts'
import { createPriceOracle, type PriceOracle, type PriceState } from '../prices/price-oracle.ts'
import { createSolanaBalanceReader } from '../solana/balance-reader.ts'
import { connectSolana } from '../solana/nodes.ts'
import { createSolanaPayerNode, type SolanaPayerNode } from '../solana/payer-node.ts'
import { createSolanaPaymentReader } from '../solana/payment-reader.ts'
import { watchTokenAccounts } from '../solana/token-accounts.ts'
import { createSolanaDecimalsReader } from '../solana/token-decimals.ts'
import { countReadings, type ReadingCount } from './count-readings.ts'
import { listNotOffered } from './not-offered.ts'
import { type Market, watchMarket } from './price-legs.ts'
import type { SalesConfig, SalesSecrets } from './settings.ts'

export interface Sales {
  /** Legs that can be paid right now. One cannot whose token account does not exist, or whose decimals are not checked. */
  offeredLegs(): Promise<Leg[]>
  market(): Promise<Market>
  reader(network: Network): PaymentReader
  /** For payers that reach no node by themselves. */
  payerNodes: { solana: SolanaPayerNode; evm: EvmPayerNode }
  health(network: Network): Promise<'ok' | 'failing' | 'disabled'>
  /** The prices that offered legs need, asked for where they are due. Empty where no leg needs one. */
  prices(): Promise<PriceState[]>
  /** Why assets cannot be paid with right now. Does not wait long for a node that hangs. */
  notOffered(): Promise<NotOffered[]>
  /** What readings of payments came to since the start. */
  readings(): ReadingCount[]
  treasuries: readonly Treasury[]
}

/** Where all payments on one network go. */
interface Treasury {
  network: Network
  address: string
  legs: readonly Leg[]
  balances: BalanceReader
}

const ORACLE_TIMEOUT_MS = 3_000
const MAX_CONFIDENCE_RATIO = 0.02
const PROBE_TIMEOUT_MS = 2_000

export async function openSales(
  config: SalesConfig,
  secrets: SalesSecrets,
  now: () => number,
  log: Log,
): Promise<Sales> {
  const treasuries = new Map<Network, string>()
  if (config.primary) treasuries.set(PRIMARY, config.primary.treasury)
  if (config.evm) treasuries.set(EVM, config.evm.treasury)
  const legs = await configuredLegs({ treasuries, assets: config.assets })
  const isTokenAccount = ({ of, payTo }: Leg) => of.network === PRIMARY && payTo !== config.primary?.treasury
  const tokenAccounts = watchTokenAccounts({
    rpcUrls: secrets.primaryRpcUrls,
    quorum: config.primary?.quorum ?? 1,
    accounts: legs.filter(isTokenAccount).map(({ payTo }) => payTo),
    now,
  })
  const readings = countReadings(paymentReaders(config, secrets), log)
  const decimals = checkDecimals(legs, config, secrets, now, log)
  const oracle = priceOracle(legs, config, secrets, now, log)
  const probes = new Map<Network, () => Promise<boolean>>([
    [PRIMARY, createChainProbe(connectSolana(PRIMARY, secrets.primaryRpcUrls, probeOptions(config.primary)), now)],
    [EVM, createChainProbe(connectEvm(EVM, secrets.evmRpcUrls, probeOptions(config.evm)), now)],
  ])
  const offeredLegs = async () => {
    const [existing, checked] = await Promise.all([tokenAccounts.existing(), decimals.checked()])
    return legs.filter(
      (leg) => (!isTokenAccount(leg) || existing.has(leg.payTo)) && (!isToken(leg) || checked.has(leg)),
    )
  }
  const prices = async () => {
    await oracle.rates()
    return oracle.states()
  }
  return {
    offeredLegs,
    market: watchMarket(offeredLegs, oracle),
    prices,
    reader: readings.reader,
    payerNodes: {
      solana: createSolanaPayerNode(secrets.primaryRpcUrls, config.primary?.quorum),
      evm: createEvmPayerNode(secrets.evmRpcUrls, config.evm?.quorum),
    },
    readings: readings.counts,
    async notOffered() {
      const [accounts] = await Promise.all([
        withinProbe(tokenAccounts.existing()),
        withinProbe(decimals.checked()),
        prices(),
      ])
      return listNotOffered({
        assets: config.assets.map(({ of }) => of),
        legs,
        isConfigured: (network) => treasuries.has(network),
        tokenAccountOf(leg) {
          if (!isTokenAccount(leg) || accounts?.has(leg.payTo)) return 'exists'
          return accounts && tokenAccounts.isKnown() ? 'missing' : 'unknown'
        },
        decimalsProblems: decimals.problems(),
        unpriced: oracle.missing(),
      })
    },
    async health(network) {
      const probe = treasuries.has(network) && probes.get(network)
      if (!probe) return 'disabled'
      return (await probe()) ? 'ok' : 'failing'
    },
    treasuries: [...treasuries].map(([network, address]) => ({
      network,
      address,
      legs: legs.filter(({ of }) => of.network === network),
      balances: balanceReader(network, config, secrets),
    })),
  }
}

function probeOptions(chain: SalesConfig['primary'] | SalesConfig['evm']) {
  return { timeoutMs: PROBE_TIMEOUT_MS, quorum: chain?.quorum ?? 1 }
}

function balanceReader({ family }: Network, { primary, evm }: SalesConfig, secrets: SalesSecrets): BalanceReader {
  return family === 'evm'
    ? createEvmBalanceReader(secrets.evmRpcUrls, evm?.quorum)
    : createSolanaBalanceReader(secrets.primaryRpcUrls, primary?.quorum)
}

function isToken({ of, asset }: Leg): boolean {
  return asset !== of.network.nativeAsset
}

function checkDecimals(
  legs: readonly Leg[],
  { primary, evm }: SalesConfig,
  { primaryRpcUrls, evmRpcUrls }: SalesSecrets,
  now: () => number,
  log: Log,
): DecimalsWatch {
  const readers: Record<Network['family'], ReadDecimals> = {
    solana: createSolanaDecimalsReader(primaryRpcUrls, primary?.quorum),
    evm: createEvmDecimalsReader(evmRpcUrls, evm?.quorum),
  }
  return watchDecimals({
    legs: legs.filter(isToken),
    read: ({ family }) => readers[family],
    now,
    onWrong: ({ of, asset }, problem) =>
      log.error(
        { network: of.network.name, asset: of.ticker, address: asset, expected: of.decimals, problem },
        'a token has other decimals than this service reckons with; it is not sold',
      ),
  })
}

/** Null where a node hangs: health must be answered all the same. */
function withinProbe<T>(known: Promise<T>): Promise<T | null> {
  return Promise.race([known, setTimeout(PROBE_TIMEOUT_MS, null, { ref: false })])
}

/** Readers of both networks: older quotes may be on a network that is no longer offered, and then has no nodes. */
function paymentReaders(
  { primary, evm }: SalesConfig,
  { primaryRpcUrls, evmRpcUrls }: SalesSecrets,
): Record<Network['family'], PaymentReader> {
  const { genesisHash } = PRIMARY
  const { chainId } = EVM
  const depth = evm && { confirmations: evm.confirmations, finality: evm.finality, quorum: evm.quorum }
  return {
    solana: createSolanaPaymentReader({
      rpcUrls: primaryRpcUrls,
      genesisHash,
      ...(primary && { commitment: primary.commitment, quorum: primary.quorum }),
    }),
    evm: createEvmPaymentReader({ rpcUrls: evmRpcUrls, chainId, ...depth }),
  }
}

/** Only the prices that legs need are asked for. */
function priceOracle(
  legs: readonly Leg[],
  { oracle }: SalesConfig,
  { oracleApiKey }: SalesSecrets,
  now: () => number,
  log: Log,
): PriceOracle {
  const symbols = pricesOf(legs.map(({ of }) => of)).map(({ symbol }) => symbol)
  return createPriceOracle({
    symbols,
    source: createHermesSource({
      baseUrl: oracle.url,
      feeds: Object.fromEntries(Object.entries(oracle.feeds).filter(([symbol]) => symbols.includes(symbol))),
      timeoutMs: ORACLE_TIMEOUT_MS,
      maxAgeSeconds: oracle.maxAgeSeconds,
      maxConfidenceRatio: MAX_CONFIDENCE_RATIO,
      now,
      ...(oracleApiKey && { apiKey: oracleApiKey }),
    }),
    fallback: oracle.fallback,
    now,
    onProblem: (symbol, problem, standIn) => log.warn({ symbol, problem, standIn }, 'a price cannot be used'),
  })
}
