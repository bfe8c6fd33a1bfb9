// Settings of a service that sells: chains, treasuries, exchange rates, how long a quote is valid.

import { ASSETS, type Asset, type OraclePrice, priceSettings, pricesOf } from '@svc/api/assets'
import { NETWORKS, type Network } from '@svc/api/networks'
import type { SettingsReader } from '@svc/service/program/config'
import { parseDecimal } from '../amounts.ts'
import { type Finality, familyOf } from '../families.ts'
import type { ConfiguredAsset } from '../legs.ts'
import { nodeName } from '../nodes/node-pool.ts'

export interface SalesConfig {
  quoteTtlSeconds: number
  lateConfirmSeconds: number
  timeSkewSeconds: number
  /** Those that take payments. */
  chains: ReadonlyMap<Network, ChainConfig>
  assets: readonly ConfiguredAsset[]
  oracle: {
    url: string
    maxAgeSeconds: number
    /** By symbol, as `fallback`. */
    feeds: Readonly<Record<string, string>>
    /** Only what is set: no rate is compiled in. */
    fallback: Readonly<Record<string, string>>
  }
}

interface ChainConfig {
  treasury: string
  /** How many nodes must agree on what decides about money. */
  quorum: number
  finality: Finality
}

export interface SalesSecrets {
  /** Of the nodes of each network. Secret, because node addresses often hold an access key. */
  rpcUrls: ReadonlyMap<Network, readonly string[]>
  oracleApiKey: string | null
}

/** Wallets whose private keys are public: treasuries of the local primary chain, and the accounts of EVM test tools. */
const DEVELOPMENT_WALLETS = new Set(
  [
    'C4igSbvw2w3iPbXSatW4s2jb4C5196Eb8kQ1r5jDNnYv',
    'HpQkJ6sJYUKF2ykxjApfcTvfjurXPZ6u2JBa35JXQUeS',
    '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
    '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
    '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
    '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
    '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955',
    '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
    '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
    '0xBcd4042DE499D14e55001CcbB24a551F3b954096',
  ].map((wallet) => wallet.toLowerCase()),
)

const DAY = 86_400

export function readSalesConfig(
  settings: SettingsReader,
  isProduction: boolean,
  assets: readonly Asset[] = ASSETS,
): [SalesConfig, SalesSecrets] {
  const chains = NETWORKS.map((network) => readChain(settings, network))
  const paid = chains.flatMap(({ network, config }) => (config ? [[network, config] as const] : []))
  if (isProduction) {
    for (const [, { treasury }] of paid) {
      if (DEVELOPMENT_WALLETS.has(treasury.toLowerCase()))
        settings.problem(`${treasury} is a development wallet: anybody can take what is paid to it`)
    }
    if (paid.length === 0) {
      const pairs = NETWORKS.map((network) => settingsOf(network).join(' and '))
      settings.problem(`${pairs.join(', or ')}, must be set: nothing can be sold`)
    }
  }
  const prices = pricesOf(assets)
  const config: SalesConfig = {
    quoteTtlSeconds: settings.integer('QUOTE_TTL_SECONDS', 300, { min: 1, max: DAY }),
    lateConfirmSeconds: settings.integer('LATE_CONFIRM_HOURS', 24, { min: 0, max: 8760 }) * 3600,
    timeSkewSeconds: settings.integer('PAYMENT_TIME_SKEW_SECONDS', 30, { min: 0, max: DAY }),
    chains: new Map(paid),
    assets: assets.map((of) => ({ of, address: assetAddress(settings, of) })),
    oracle: {
      url: settings.url('ORACLE_URL', 'https://hermes.pyth.network'),
      maxAgeSeconds: settings.integer('ORACLE_MAX_AGE_SECONDS', 120, { min: 1, max: DAY }),
      feeds: Object.fromEntries(prices.map((price) => [price.symbol, feed(settings, price)])),
      fallback: Object.fromEntries(prices.flatMap((price) => fallbackRate(settings, price))),
    },
  }
  const rpcUrls = new Map(chains.map((chain) => [chain.network, chain.rpcUrls]))
  return [config, { rpcUrls, oracleApiKey: settings.text('ORACLE_API_KEY') || null }]
}

/** Without these two, a network takes no payments. */
export function settingsOf({ settings }: Network): [rpcUrls: string, treasury: string] {
  return [`${settings}_RPC_URLS`, `${settings}_TREASURY`]
}

function readChain(settings: SettingsReader, network: Network) {
  const [nodes, wallet] = settingsOf(network)
  const rpcUrls = urls(settings, nodes)
  const treasury = optional(settings, wallet, network)
  if (Boolean(treasury) !== rpcUrls.length > 0)
    settings.problem(`${wallet} and ${nodes} belong together: set both or none`)
  const needed = quorum(settings, `${network.settings}_RPC_QUORUM`, rpcUrls)
  const finality = familyOf(network).readFinality(settings, network.settings)
  const config: ChainConfig | null = treasury === null ? null : { treasury, quorum: needed, finality }
  return { network, rpcUrls, config }
}

function urls(settings: SettingsReader, name: string): string[] {
  const list = settings.list(name)
  for (const url of list) {
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      settings.problem(`${name} must be http or https addresses with commas between`)
  }
  return list
}

/**
 * By default a majority of three or more nodes: one may lie or be away. A majority of two is both, so that each could stop
 * all sales. Two addresses of one host are one party, whose word must not count twice.
 */
function quorum(settings: SettingsReader, name: string, rpcUrls: readonly string[]): number {
  const nodes = rpcUrls.length
  const haveOwnHosts = new Set(rpcUrls.map(nodeName)).size === nodes
  const byDefault = nodes >= 3 && haveOwnHosts ? Math.floor(nodes / 2) + 1 : 1
  const wanted = settings.integer(name, byDefault, { min: 1, max: 100 })
  settings.asked.set(name, '')
  const urls = name.replace('QUORUM', 'URLS')
  if (wanted > Math.max(nodes, 1)) settings.problem(`${name} is ${wanted}, but ${urls} has ${nodes}`)
  if (wanted > 1 && !haveOwnHosts)
    settings.problem(`${name} needs every node at a host of its own, but ${urls} has two at one host`)
  return wanted
}

function assetAddress(settings: SettingsReader, { network, address }: Asset): string | null {
  if (typeof address === 'string') return address
  return optional(settings, address.setting, network)
}

function feed(settings: SettingsReader, price: OraclePrice): string {
  return settings.text(priceSettings(price).feed, price.feed)
}

function fallbackRate(settings: SettingsReader, price: OraclePrice): [symbol: string, usd: string][] {
  const { fallback } = priceSettings(price)
  return settings.text(fallback) === '' ? [] : [[price.symbol, usd(settings, fallback, '')]]
}

function optional(settings: SettingsReader, name: string, network: Network): string | null {
  const text = settings.text(name)
  if (text && !familyOf(network).isAddress(text)) settings.problem(`${name} is not an address of its chain: "${text}"`)
  return text || null
}

/** A positive decimal number of dollars, as text. */
export function usd(settings: SettingsReader, name: string, fallback: string): string {
  const text = settings.text(name, fallback)
  if (isPositive(text)) return text
  settings.problem(`${name} must be a positive decimal number, not "${text}"`)
  return fallback
}

export function isPositive(text: string): boolean {
  return (parseDecimal(text)?.digits ?? 0n) > 0n
}
