// Settings of a service that sells: chains, treasuries, exchange rates, how long a quote is valid.

import { ASSETS, type Asset, pricesOf, tokenKey } from '@svc/api/assets'
import { NETWORKS, type Network, ROLES } from '@svc/api/networks'
import { type Renamed, readInteger, type Settings, type SettingsReader } from '@svc/service/program/config'
import { parseDecimal } from '../amounts.ts'
import { type Finality, familyOf } from '../families.ts'
import type { ConfiguredAsset } from '../legs.ts'
import { nodeName } from '../nodes/node-pool.ts'

export interface SalesConfig {
  quoteTtlSeconds: number
  lateConfirmSeconds: number
  timeSkewSeconds: number
  /** The networks that accept payments. */
  chains: ReadonlyMap<Network, ChainConfig>
  assets: readonly ConfiguredAsset[]
  oracle: {
    url: string
    maxAgeSeconds: number
    /** By symbol, like `fallback`. */
    feeds: Readonly<Record<string, string>>
    /** Only configured rates: none is compiled in. */
    fallback: Readonly<Record<string, string>>
  }
}

interface ChainConfig {
  treasury: string
  /** How many nodes must agree before money depends on an answer. */
  quorum: number
  finality: Finality
}

export interface SalesSecrets {
  /** The node addresses of each network. Secret, because they often contain an access key. */
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
/** Prices older than this are not used. */
const MAX_PRICE_AGE_SECONDS = 120

/** For every service that sells. The settings of a network follow from its declaration. */
export const SALES_SETTINGS: Settings = {
  ...Object.fromEntries(NETWORKS.flatMap(networkSettings)),
  FALLBACK_USD: {
    group: 'should look at',
    help: 'USD for one coin once no price of the last hour is known: SOL=150,MON=0.02; a coin that is not in it is then not accepted',
  },
  TOKENS: {
    group: 'tuning',
    help: `Mint or contract of tokens that have no address of their own: ${namedTokens(ASSETS).join('=…,')}=…; a token that is not in it is not offered`,
  },
  RPC_QUORUM: {
    group: 'tuning',
    help: `How many nodes of a network must agree before a payment or an anchor is decided: ${networkKeys().join('=1,')}=1; above 1, each node needs a host of its own; when empty, a majority of three or more nodes with hosts of their own, otherwise 1`,
  },
  FINALITY: {
    group: 'tuning',
    help: `How final a payment must be: ${NETWORKS.map((network) => `${networkKey(network)}=${network.family === 'evm' ? "1 (a number of blocks, the payment's own included) or finalized" : 'confirmed or finalized'}`).join(', ')}`,
  },
  QUOTE_TTL_SECONDS: { group: 'tuning', default: '300', help: 'How long a quote is valid' },
  LATE_CONFIRM_HOURS: {
    group: 'tuning',
    default: '24',
    help: "For how long after a quote's end a payment made in time may still be confirmed",
  },
  PAYMENT_TIME_SKEW_SECONDS: {
    group: 'tuning',
    default: '30',
    help: "How far a chain's clock may run behind ours",
  },
  ORACLE_URL: {
    group: 'tuning',
    default: 'https://hermes.pyth.network',
    help: 'Price server that speaks the Hermes protocol',
  },
  ORACLE_API_KEY: { group: 'tuning', isSecret: true, help: 'Access key of the price server, if it needs one' },
}

const IN_TOKENS = 'write it into TOKENS, as'
const IN_ASSETS = 'the feed of an asset is part of its declaration: remove this setting'

/** The names of 1.1.0. */
export const RENAMED_SALES_SETTINGS: Renamed = {
  ORACLE_MAX_AGE_SECONDS: 'prices older than 120 seconds are not used: remove this setting',
  BETA_MINT: `${IN_TOKENS} primary.BETA=<mint>`,
  EVM_USDT0_CONTRACT: `${IN_TOKENS} evm.USDT0=<contract>`,
  EVM_WETH_CONTRACT: `${IN_TOKENS} evm.WETH=<contract>`,
  PRIMARY_RPC_QUORUM: 'write it into RPC_QUORUM, as primary=2',
  EVM_RPC_QUORUM: 'write it into RPC_QUORUM, as evm=2',
  PRIMARY_COMMITMENT: 'write it into FINALITY, as primary=finalized',
  EVM_CONFIRMATIONS: 'write it into FINALITY, as evm=3',
  EVM_FINALITY: 'write it into FINALITY, as evm=finalized; for latest-confirmations, the number of blocks',
  ORACLE_FEED_SOL: IN_ASSETS,
  ORACLE_FEED_MON: IN_ASSETS,
  ORACLE_FEED_ETH: IN_ASSETS,
  FALLBACK_USD_SOL: 'write it into FALLBACK_USD, as SOL=150',
  FALLBACK_USD_MON: 'write it into FALLBACK_USD, as MON=0.02',
  FALLBACK_USD_ETH: 'write it into FALLBACK_USD, as ETH=2500',
}

function networkSettings(network: Network): [name: string, setting: Settings[string]][] {
  const { title, family } = network
  const [nodes, treasury] = settingsOf(network)
  const chain = family === 'evm' ? `${title} (chain ${network.chainId})` : title
  return [
    [
      nodes,
      {
        group: network === ROLES.publication ? 'must set' : 'should look at',
        isSecret: true,
        help: `Addresses of nodes of ${chain}, separated by commas; all are queried, and the quorum decides`,
      },
    ],
    [
      treasury,
      {
        group: network === ROLES.publication ? 'must set' : 'should look at',
        help: `Wallet on ${title} that is paid${family === 'solana' ? '; its token accounts must exist for tokens to be offered' : ''}`,
      },
    ],
  ]
}

/** The network's name in settings that cover all networks. */
function networkKey({ settings }: Network): string {
  return settings.toLowerCase()
}

function networkKeys(): string[] {
  return NETWORKS.map(networkKey)
}

function namedTokens(assets: readonly Asset[]): string[] {
  return assets.filter(({ address }) => address === null).map(tokenKey)
}

export function readSalesConfig(
  settings: SettingsReader,
  isProduction: boolean,
  assets: readonly Asset[] = ASSETS,
): [SalesConfig, SalesSecrets] {
  const quorums = settings.pairs('RPC_QUORUM', networkKeys())
  const finalities = settings.pairs('FINALITY', networkKeys())
  const chains = NETWORKS.map((network) => readChain(settings, network, { quorums, finalities }))
  const paid = chains.flatMap(({ network, config }) => (config ? [[network, config] as const] : []))
  if (isProduction) {
    for (const [, { treasury }] of paid) {
      if (DEVELOPMENT_WALLETS.has(treasury.toLowerCase()))
        settings.problem(`${treasury} is a development wallet: anyone can spend what is paid to it`)
    }
    if (paid.length === 0) {
      const pairs = NETWORKS.map((network) => settingsOf(network).join(' and '))
      settings.problem(`${pairs.join(', or ')}, must be set: otherwise nothing can be sold`)
    }
  }
  const prices = pricesOf(assets)
  const config: SalesConfig = {
    quoteTtlSeconds: settings.integer('QUOTE_TTL_SECONDS', { min: 1, max: DAY }),
    lateConfirmSeconds: settings.integer('LATE_CONFIRM_HOURS', { min: 0, max: 8760 }) * 3600,
    timeSkewSeconds: settings.integer('PAYMENT_TIME_SKEW_SECONDS', { min: 0, max: DAY }),
    chains: new Map(paid),
    assets: configuredAssets(settings, assets),
    oracle: {
      url: settings.url('ORACLE_URL'),
      maxAgeSeconds: MAX_PRICE_AGE_SECONDS,
      feeds: Object.fromEntries(prices.map(({ symbol, feed }) => [symbol, feed])),
      fallback: readPrices(
        settings,
        'FALLBACK_USD',
        prices.map(({ symbol }) => symbol),
      ),
    },
  }
  const rpcUrls = new Map(chains.map((chain) => [chain.network, chain.rpcUrls]))
  return [config, { rpcUrls, oracleApiKey: settings.text('ORACLE_API_KEY') || null }]
}

/** Without both, a network accepts no payments. */
export function settingsOf({ settings }: Network): [rpcUrls: string, treasury: string] {
  return [`${settings}_RPC_URLS`, `${settings}_TREASURY`]
}

type ByNetwork = ReadonlyMap<string, string[]>

function readChain(
  settings: SettingsReader,
  network: Network,
  { quorums, finalities }: { quorums: ByNetwork; finalities: ByNetwork },
) {
  const [nodes, wallet] = settingsOf(network)
  const key = networkKey(network)
  const rpcUrls = urls(settings, nodes)
  const treasury = readTreasury(settings, wallet, network)
  if (Boolean(treasury) !== rpcUrls.length > 0)
    settings.problem(`${wallet} and ${nodes} belong together: set both or neither`)
  const needed = quorum(settings, { key, nodes, rpcUrls, text: quorums.get(key)?.at(-1) })
  const finality = familyOf(network).readFinality(settings, `FINALITY: ${key}`, finalities.get(key)?.at(-1))
  const config: ChainConfig | null = treasury === null ? null : { treasury, quorum: needed, finality }
  return { network, rpcUrls, config }
}

function urls(settings: SettingsReader, name: string): string[] {
  const list = settings.list(name)
  for (const url of list) {
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      settings.problem(`${name} must be http or https addresses, separated by commas`)
  }
  return list
}

/**
 * By default a majority of three or more nodes: one may lie or be unavailable. A majority of two would be both, so that
 * each could stop all sales. Two addresses of one host are one party, which must not count twice.
 */
function quorum(
  settings: SettingsReader,
  { key, nodes, rpcUrls, text }: { key: string; nodes: string; rpcUrls: readonly string[]; text: string | undefined },
): number {
  const count = rpcUrls.length
  const haveOwnHosts = new Set(rpcUrls.map(nodeName)).size === count
  const byDefault = count >= 3 && haveOwnHosts ? Math.floor(count / 2) + 1 : 1
  const what = `RPC_QUORUM: ${key}`
  const wanted = text === undefined ? byDefault : readInteger(settings, what, text, { min: 1, max: 100 })
  if (wanted > Math.max(count, 1)) settings.problem(`${what} is ${wanted}, but ${nodes} has ${count}`)
  if (wanted > 1 && !haveOwnHosts)
    settings.problem(`${what} requires a separate host for each node, but ${nodes} has two on one host`)
  return wanted
}

function configuredAssets(settings: SettingsReader, assets: readonly Asset[]): ConfiguredAsset[] {
  const given = settings.pairs('TOKENS', namedTokens(assets))
  return assets.map((of) => {
    const address = of.address ?? given.get(tokenKey(of))?.at(-1) ?? null
    if (address !== null && of.address === null && !familyOf(of.network).isAddress(address))
      settings.problem(`TOKENS: ${tokenKey(of)} is not an address of its chain: "${address}"`)
    return { of, address }
  })
}

function readTreasury(settings: SettingsReader, name: string, network: Network): string | null {
  const text = settings.text(name)
  if (text && !familyOf(network).isAddress(text)) settings.problem(`${name} is not an address of its chain: "${text}"`)
  return text || null
}

/** A positive decimal number of dollars, as text. */
export function usd(settings: SettingsReader, name: string): string {
  const text = settings.text(name)
  if (!isPositive(text)) settings.problem(`${name} must be a positive decimal number, not "${text}"`)
  return text
}

/** Positive decimal numbers by key, with defaults for missing keys. */
export function readPrices(
  settings: SettingsReader,
  name: string,
  keys: readonly string[],
): Readonly<Record<string, string>> {
  const prices = [...settings.pairs(name, keys)].map(([key, texts]) => [key, texts.at(-1) ?? ''] as const)
  for (const [key, text] of prices) {
    if (!isPositive(text)) settings.problem(`${name}: ${key} must be a positive decimal number, not "${text}"`)
  }
  return Object.fromEntries(prices)
}

function isPositive(text: string): boolean {
  return (parseDecimal(text)?.digits ?? 0n) > 0n
}
