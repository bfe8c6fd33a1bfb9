// Everything that selling needs besides a database: legs, chain readers, prices. Built once at start.

import { setTimeout } from 'node:timers/promises'
import { pricesOf } from '@svc/api/assets'
import type { NotOffered } from '@svc/api/info'
import { byChainCheck, type ChainCheck, NETWORKS, type Network } from '@svc/api/networks'
import type { Log } from '@svc/service/program/log'
import type { BalanceReader } from '../balance-reader.ts'
import { type DecimalsWatch, watchDecimals } from '../decimals.ts'
import { familyOf, type PayerNodeOf } from '../families.ts'
import { type Chain, PROBE_TIMEOUT_MS } from '../family.ts'
import { configuredLegs, type Leg } from '../legs.ts'
import { createChainProbe } from '../nodes/node-pool.ts'
import type { PaymentReader } from '../payment.ts'
import { createHermesSource } from '../prices/hermes.ts'
import { createPriceOracle, type PriceOracle, type PriceState } from '../prices/price-oracle.ts'
import { countReadings, type ReadingCount } from './count-readings.ts'
import { listNotOffered } from './not-offered.ts'
import { type Market, watchMarket } from './price-legs.ts'
import type { SalesConfig, SalesSecrets } from './settings.ts'

export interface Sales {
  /**
   * Legs that can be paid at the moment, without those whose token account does not exist or whose decimals are
   * unchecked.
   */
  offeredLegs(): Promise<Leg[]>
  market(): Promise<Market>
  reader(network: Network): PaymentReader
  /** For payers without a node of their own. */
  payerNode<Of extends Network>(network: Of): PayerNodeOf<Of>
  health(): Promise<Record<ChainCheck, 'ok' | 'failing' | 'disabled'>>
  /** The prices that offered legs need, requested when they are due. Empty when no leg needs one. */
  prices(): Promise<PriceState[]>
  /** Why assets cannot be paid with at the moment. Does not wait long for a node that hangs. */
  notOffered(): Promise<NotOffered[]>
  /** The outcomes of payment readings since the start. */
  readings(): ReadingCount[]
  treasuries: readonly Treasury[]
}

/** The destination of all payments on one network. */
interface Treasury {
  network: Network
  address: string
  legs: readonly Leg[]
  balances: BalanceReader
}

/** Of one reading of the price server. */
export const ORACLE_LIMITS = { timeoutMs: 3_000, maxConfidenceRatio: 0.02 } as const

export async function openSales(
  config: SalesConfig,
  secrets: SalesSecrets,
  now: () => number,
  log: Log,
): Promise<Sales> {
  const treasuries = new Map([...config.chains].map(([network, { treasury }]) => [network, treasury]))
  const legs = await configuredLegs({ treasuries, assets: config.assets })
  const chainOf = openChains(config, secrets)
  const accounts = new Map(
    NETWORKS.map((network) => [network, chainOf(network).watchTokenAccounts?.(tokenAccountsOn(network, legs), now)]),
  )
  const readings = countReadings((network) => chainOf(network).reader, log)
  const decimals = checkDecimals(legs, chainOf, now, log)
  const oracle = priceOracle(legs, config, secrets, now, log)
  const probes = new Map(NETWORKS.map((network) => [network, createChainProbe(chainOf(network).probe, now)]))
  const existingAccounts = async () =>
    new Map(
      await Promise.all([...accounts].map(async ([network, watch]) => [network, await watch?.existing()] as const)),
    )
  const offeredLegs = async () => {
    const [existing, checked] = await Promise.all([existingAccounts(), decimals.checked()])
    return legs.filter(
      (leg) =>
        (!isTokenAccount(leg) || existing.get(leg.of.network)?.has(leg.payTo)) && (!isToken(leg) || checked.has(leg)),
    )
  }
  const stateOf = async (network: Network) => {
    const probe = treasuries.has(network) && probes.get(network)
    if (!probe) return 'disabled'
    return (await probe()) ? 'ok' : 'failing'
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
    payerNode: (network) => chainOf(network).payerNode,
    readings: readings.counts,
    async notOffered() {
      const [existing] = await Promise.all([withinProbe(existingAccounts()), withinProbe(decimals.checked()), prices()])
      return listNotOffered({
        assets: config.assets.map(({ of }) => of),
        legs,
        isConfigured: (network) => treasuries.has(network),
        tokenAccountOf(leg) {
          const { network } = leg.of
          if (!isTokenAccount(leg) || existing?.get(network)?.has(leg.payTo)) return 'exists'
          return existing && accounts.get(network)?.isKnown() ? 'missing' : 'unknown'
        },
        decimalsProblems: decimals.problems(),
        unpriced: oracle.missing(),
      })
    },
    async health() {
      const states = new Map(
        await Promise.all(NETWORKS.map(async (network) => [network, await stateOf(network)] as const)),
      )
      return byChainCheck((network) => states.get(network) ?? 'disabled')
    },
    treasuries: [...treasuries].map(([network, address]) => ({
      network,
      address,
      legs: legs.filter(({ of }) => of.network === network),
      balances: chainOf(network).balances,
    })),
  }
}

type ChainOf = <Of extends Network>(network: Of) => Chain<PayerNodeOf<Of>>

/** All networks: older quotes may use a network that is no longer offered, and then has no nodes. */
function openChains({ chains }: SalesConfig, { rpcUrls }: SalesSecrets): ChainOf {
  const opened = new Map(
    NETWORKS.map((network) => {
      const { quorum = 1, finality } = chains.get(network) ?? {}
      const nodes = { rpcUrls: rpcUrls.get(network) ?? [], quorum }
      return [network, familyOf(network).open(network, nodes, finality)]
    }),
  )
  return <Of extends Network>(network: Of) => opened.get(network) as Chain<PayerNodeOf<Of>> // each is opened
}

function tokenAccountsOn(network: Network, legs: readonly Leg[]): string[] {
  return legs.filter((leg) => leg.of.network === network && isTokenAccount(leg)).map(({ payTo }) => payTo)
}

function isTokenAccount({ payTo, wallet }: Leg): boolean {
  return payTo !== wallet
}

function isToken({ of, asset }: Leg): boolean {
  return asset !== of.network.nativeAsset
}

function checkDecimals(legs: readonly Leg[], chainOf: ChainOf, now: () => number, log: Log): DecimalsWatch {
  return watchDecimals({
    legs: legs.filter(isToken),
    read: (network) => chainOf(network).readDecimals,
    now,
    onWrong: ({ of, asset }, problem) =>
      log.error(
        { network: of.network.name, asset: of.ticker, address: asset, expected: of.decimals, problem },
        'a token has other decimals than declared; it is not sold',
      ),
  })
}

/** Null when a node hangs: health checks must still be answered. */
function withinProbe<T>(known: Promise<T>): Promise<T | null> {
  return Promise.race([known, setTimeout(PROBE_TIMEOUT_MS, null, { ref: false })])
}

/** Requests only the prices that legs need. */
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
      ...ORACLE_LIMITS,
      maxAgeSeconds: oracle.maxAgeSeconds,
      now,
      ...(oracleApiKey && { apiKey: oracleApiKey }),
    }),
    fallback: oracle.fallback,
    now,
    onProblem: (symbol, problem, substitute) => log.warn({ symbol, problem, substitute }, 'a price cannot be used'),
  })
}
