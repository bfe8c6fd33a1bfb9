// The chains that take payments. Settings, nodes, treasuries, legs, /health, clients, pages, the tables of the documents and
// the local chains of development follow from this list: CONTRIBUTING.md, "A network". Test networks have no entry of
// their own: live listings name mainnets only (PAY-32).

import type { SigAlg } from '@svc/protocol/keys'

interface NetworkFacts {
  /** What its settings begin with, `EVM_RPC_URLS` among them, and its check in /health, in lower case: `evm_chain`. */
  settings: string
  /** The friendly name of confirm bodies and receipts. */
  name: string
  /** Names of test networks in requests of older clients: they mean this network (PAY-05). */
  olderNames: readonly string[]
  /** What people call it. */
  title: string
  /** In units of the coin: many times what a payment costs on a busy day. A client pays no more without being asked. */
  usualFee: string
  /** The page of a transaction, without its id. */
  explorer: string
}

interface SolanaFacts extends NetworkFacts {
  genesisHash: string
  /** What browser wallets call it, by the wallet standard. */
  walletChain: `${string}:${string}`
}

interface EvmFacts extends NetworkFacts {
  chainId: number
  /** A node for browser wallets that do not know the network. */
  publicNode: string
}

/** What follows from the family of a network and its own facts. */
interface FamilyFacts {
  /** The CAIP-2 id of quotes. */
  caip2: string
  sigAlg: SigAlg
  /** What stands for the native coin where a mint or contract is named (PAY-19). */
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

/** What one network alone does. */
export const ROLES = {
  /** Memos and attestations of statements and checkpoints are written there. */
  publication: PRIMARY,
  /** It has the registry of Merkle roots. */
  registry: EVM,
  /** Solana Pay codes, and the method `solana` of the Machine Payments Protocol, know no other chain of its family. */
  solanaPay: PRIMARY,
} as const

/** The networks' checks in /health. */
export type ChainCheck = `${Lowercase<(typeof DECLARED)[number]['settings']>}_chain`

export function chainCheck({ settings }: Network): ChainCheck {
  return `${settings.toLowerCase()}_chain` as ChainCheck // of a declared one
}

/** A value for each network, under the name of its check. */
export function byChainCheck<Value>(of: (network: Network) => Value): Record<ChainCheck, Value> {
  return Object.fromEntries(NETWORKS.map((network) => [chainCheck(network), of(network)])) as Record<ChainCheck, Value> // fromEntries returns plain strings
}

/** The network of a friendly name, a CAIP-2 id, or an older test network's name, which means the mainnet (PAY-05). */
export function networkNamed(text: string): Network | null {
  return NETWORKS.find(({ name, caip2, olderNames }) => [name, caip2, ...olderNames].includes(text)) ?? null
}
