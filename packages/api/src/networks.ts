// The two chains that take payments. Test networks have no entry of their own: live listings name mainnets only (PAY-32).

import type { SigAlg } from '@svc/protocol/keys'

interface NetworkFacts {
  /** The friendly name of confirm bodies and receipts. */
  name: string
  /** Names of test networks in requests of older clients: they mean this network (AMB-09). */
  olderNames: readonly string[]
  /** What people call it. */
  title: string
  /** The CAIP-2 id of quotes. */
  caip2: string
  sigAlg: SigAlg
  /** What stands for the native coin where a mint or contract is named (AMB-10). */
  nativeAsset: string
  /** In units of the coin: many times what a payment costs on a busy day. A client pays no more without being asked. */
  usualFee: string
  /** The page of a transaction, without its id. */
  explorer: string
}

export interface PrimaryNetwork extends NetworkFacts {
  family: 'solana'
  genesisHash: string
}

export interface EvmNetwork extends NetworkFacts {
  family: 'evm'
  chainId: number
  /** A node for browser wallets that do not know the network. */
  publicNode: string
}

export type Network = PrimaryNetwork | EvmNetwork

export const PRIMARY: Readonly<PrimaryNetwork> = {
  family: 'solana',
  name: 'primary-mainnet',
  olderNames: ['primary-devnet', 'primary-testnet'],
  title: 'Solana',
  caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  sigAlg: 'ed25519',
  nativeAsset: 'So11111111111111111111111111111111111111112',
  usualFee: '0.01',
  explorer: 'https://explorer.solana.com/tx/',
  genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
}

export const EVM: Readonly<EvmNetwork> = {
  family: 'evm',
  name: 'evm-mainnet',
  olderNames: ['evm-devnet', 'evm-testnet'],
  title: 'Monad',
  caip2: 'eip155:143',
  sigAlg: 'secp256k1',
  nativeAsset: '0x0000000000000000000000000000000000000000',
  usualFee: '1',
  explorer: 'https://monadscan.com/tx/',
  publicNode: 'https://rpc.monad.xyz',
  chainId: 143,
}

export const NETWORKS: readonly Network[] = [PRIMARY, EVM]

const BY_NAME = new Map<string, Network>(
  NETWORKS.flatMap((network) => [network.name, network.caip2, ...network.olderNames].map((name) => [name, network])),
)

/** The network of a friendly name, a CAIP-2 id, or an older test network's name, which means the mainnet (AMB-09). */
export function networkNamed(text: string): Network | null {
  return BY_NAME.get(text) ?? null
}
