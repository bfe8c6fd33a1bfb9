// Everything that selling needs besides a database: legs, chain readers, prices. Built once at start.

import { connectEvm } from '@svc/chains/evm/nodes'
import { createChainProbe } from '@svc/chains/node-pool'
import { connectSolana } from '@svc/chains/solana/nodes'
import type { Log } from '@svc/http-service/log'
import { ASSETS, type Asset } from '@svc/payments/assets'
import type { BalanceReader } from '@svc/payments/balance-reader'
import { createEvmBalanceReader } from '@svc/payments/evm/balance-reader'
import { createEvmPaymentReader } from '@svc/payments/evm/payment-reader'
import { createHermesSource } from '@svc/payments/hermes'
import { configuredLegs, type Leg } from '@svc/payments/legs'
import { EVM, type Network, PRIMARY } from '@svc/payments/networks'
import type { PaymentReader } from '@svc/payments/payment'
import { createPriceOracle, type PriceOracle } from '@svc/payments/price-oracle'
import { createSolanaBalanceReader } from '@svc/payments/solana/balance-reader'
import { createSolanaPaymentReader } from '@svc/payments/solana/payment-reader'
import { watchTokenAccounts } from '@svc/payments/solana/token-accounts'
import { type Market, watchMarket } from './price-legs.ts'
import type { SalesConfig, SalesSecrets } from './settings.ts'

export interface Sales {
  /** Legs that can be paid right now. One whose token account does not exist cannot. */
  offeredLegs(): Promise<Leg[]>
  market(): Promise<Market>
  reader(network: Network): PaymentReader
  health(network: Network): Promise<'ok' | 'failing' | 'disabled'>
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
  const legs = await configuredLegs({ treasuries, address: (asset) => assetAddress(config, asset) })
  const isTokenAccount = ({ of, payTo }: Leg) => of.network === PRIMARY && payTo !== config.primary?.treasury
  const tokenAccounts = watchTokenAccounts({
    rpcUrls: secrets.primaryRpcUrls,
    accounts: legs.filter(isTokenAccount).map(({ payTo }) => payTo),
    now,
  })
  const readers = paymentReaders(config, secrets)
  const probes = new Map<Network, () => Promise<boolean>>([
    [PRIMARY, createChainProbe(connectSolana(PRIMARY, secrets.primaryRpcUrls, PROBE_TIMEOUT_MS), now)],
    [EVM, createChainProbe(connectEvm(EVM, secrets.evmRpcUrls, { timeoutMs: PROBE_TIMEOUT_MS }), now)],
  ])
  const offeredLegs = async () => {
    const existing = await tokenAccounts.existing()
    return legs.filter((leg) => !isTokenAccount(leg) || existing.has(leg.payTo))
  }
  return {
    offeredLegs,
    market: watchMarket(offeredLegs, priceOracle(config, secrets, now, log)),
    reader: ({ family }) => readers[family],
    async health(network) {
      const probe = treasuries.has(network) && probes.get(network)
      if (!probe) return 'disabled'
      return (await probe()) ? 'ok' : 'failing'
    },
    treasuries: [...treasuries].map(([network, address]) => ({
      network,
      address,
      legs: legs.filter(({ of }) => of.network === network),
      balances: balanceReader(network, secrets),
    })),
  }
}

function balanceReader({ family }: Network, { primaryRpcUrls, evmRpcUrls }: SalesSecrets): BalanceReader {
  return family === 'evm' ? createEvmBalanceReader(evmRpcUrls) : createSolanaBalanceReader(primaryRpcUrls)
}

function assetAddress({ assets }: SalesConfig, asset: Asset): string | null {
  const configured = new Map([
    [findAsset('BETA', PRIMARY), assets.BETA],
    [findAsset('USDT0', EVM), assets.USDT0],
    [findAsset('WETH', EVM), assets.EVM_WETH],
  ])
  return configured.get(asset) ?? asset.defaultAddress
}

function findAsset(ticker: string, network: Network): Asset | undefined {
  return ASSETS.find((asset) => asset.ticker === ticker && asset.network === network)
}

/** Readers of both networks: older quotes may be on a network that is no longer offered, and then has no nodes. */
function paymentReaders(
  { primary, evm }: SalesConfig,
  { primaryRpcUrls, evmRpcUrls }: SalesSecrets,
): Record<Network['family'], PaymentReader> {
  const { genesisHash } = PRIMARY
  const { chainId } = EVM
  const depth = evm && { confirmations: evm.confirmations, finality: evm.finality }
  return {
    solana: createSolanaPaymentReader({
      rpcUrls: primaryRpcUrls,
      genesisHash,
      ...(primary && { commitment: primary.commitment }),
    }),
    evm: createEvmPaymentReader({ rpcUrls: evmRpcUrls, chainId, ...depth }),
  }
}

function priceOracle(
  { oracle }: SalesConfig,
  { oracleApiKey }: SalesSecrets,
  now: () => number,
  log: Log,
): PriceOracle {
  return createPriceOracle({
    source: createHermesSource({
      baseUrl: oracle.url,
      feeds: oracle.feeds,
      timeoutMs: ORACLE_TIMEOUT_MS,
      maxAgeSeconds: oracle.maxAgeSeconds,
      maxConfidenceRatio: MAX_CONFIDENCE_RATIO,
      now,
      ...(oracleApiKey && { apiKey: oracleApiKey }),
    }),
    fallback: oracle.fallback,
    now,
    onProblem: (symbol, problem) => log.warn({ symbol, problem }, 'price oracle failed; the configured rate is used'),
  })
}
