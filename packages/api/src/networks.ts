// The chains that accept payments. Settings, nodes, treasuries, legs, /health, clients, pages, the tables of the
// documents and the local development chains are derived from this list: CONTRIBUTING.md, "A network". Test networks
// have no entry: live listings name mainnets only (PAY-32).

import type { SigAlg } from '@svc/protocol/keys'

interface NetworkFacts {
  /** The prefix of its settings (`EVM_RPC_URLS`) and, in lower case, of its check in /health (`evm_chain`). */
  settings: string
  /** The friendly name, used in confirm bodies and receipts. */
  name: string
  /** Names of test networks that older clients send. They mean this network (PAY-05). */
  olderNames: readonly string[]
  /** The name for people. */
  title: string
  /** In units of the coin: many times the fee of a busy day. A client pays more only on explicit request. */
  usualFee: string
  /** The URL of a transaction's page, without the transaction id. */
  explorer: string
}

interface SolanaFacts extends NetworkFacts {
  genesisHash: string
  /** The name of the network for browser wallets (Wallet Standard). */
  walletChain: `${string}:${string}`
}

interface EvmFacts extends NetworkFacts {
  chainId: number
  /** A node for browser wallets that do not know the network. */
  publicNode: string
}

/** Facts that are derived from the family of a network and its own facts. */
interface FamilyFacts {
  /** The CAIP-2 id of quotes. */
  caip2: string
  sigAlg: SigAlg
  /** The value for the native coin in place of a mint or contract (PAY-19). */
  nativeAsset: string
}

export type SolanaNetwork = Readonly<SolanaFacts & FamilyFacts & { family: 'solana' }>
export type EvmNetwork = Readonly<EvmFacts & FamilyFacts & { family: 'evm' }>
export type Network = SolanaNetwork | EvmNetwork

/** By family. */
export const NATIVE_ASSETS = {
  solana: 'So11111111111111111111111111111111111111112',
  evm: '0x0000000000000000000000000000000000000000',
} as const satisfies Record<Network['family'], string>

export function solanaNetwork<const Facts extends SolanaFacts>(facts: Facts) {
  const caip2 = `solana:${facts.genesisHash.slice(0, 32)}`
  return { ...facts, family: 'solana', caip2, sigAlg: 'ed25519', nativeAsset: NATIVE_ASSETS.solana } as const
}

export function evmNetwork<const Facts extends EvmFacts>(facts: Facts) {
  const caip2 = `eip155:${facts.chainId}`
  return { ...facts, family: 'evm', caip2, sigAlg: 'secp256k1', nativeAsset: NATIVE_ASSETS.evm } as const
}

export const PRIMARY = solanaNetwork({
  settings: 'PRIMARY',
  name: 'primary-mainnet',
  olderNames: ['primary-devnet', 'primary-testnet'],
  title: 'Solana',
  usualFee: '0.01',
  explorer: 'https://explorer.solana.com/tx/',
  genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  walletChain: 'solana:mainnet',
})

export const EVM = evmNetwork({
  settings: 'EVM',
  name: 'evm-mainnet',
  olderNames: ['evm-devnet', 'evm-testnet'],
  title: 'Monad',
  usualFee: '1',
  explorer: 'https://monadscan.com/tx/',
  chainId: 143,
  publicNode: 'https://rpc.monad.xyz',
})

const DECLARED = [PRIMARY, EVM] as const

export const NETWORKS: readonly Network[] = DECLARED

/** The networks with a special role. */
export const ROLES = {
  /** Memos and attestations of statements and checkpoints are written to this network. */
  publication: PRIMARY,
  /** This network has the registry of Merkle roots. */
  registry: EVM,
  /** The only chain of its family for Solana Pay and for the Machine Payments Protocol's method `solana`. */
  solanaPay: PRIMARY,
} as const

/** The names of the networks' checks in /health. */
export type ChainCheck = `${Lowercase<(typeof DECLARED)[number]['settings']>}_chain`

export function chainCheck({ settings }: Network): ChainCheck {
  return `${settings.toLowerCase()}_chain` as ChainCheck // every network is declared
}

/** A value for each network, keyed by the name of its check. */
export function byChainCheck<Value>(of: (network: Network) => Value): Record<ChainCheck, Value> {
  return Object.fromEntries(NETWORKS.map((network) => [chainCheck(network), of(network)])) as Record<ChainCheck, Value> // fromEntries returns plain strings
}

/** Finds a network by friendly name, CAIP-2 id, or an old test network's name, which means the mainnet (PAY-05). */
export function networkNamed(text: string): Network | null {
  return NETWORKS.find(({ name, caip2, olderNames }) => [name, caip2, ...olderNames].includes(text)) ?? null
}
