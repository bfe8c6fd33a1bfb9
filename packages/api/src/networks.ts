// The two chains that take payments. Test networks have no entry of their own: live listings name mainnets only (PAY-32).

import type { SigAlg } from '@svc/protocol/keys'

interface NetworkFacts {
  /** The friendly name of confirm bodies and receipts. */
  name: string
  /** The CAIP-2 id of quotes. */
  caip2: string
  sigAlg: SigAlg
  /** What stands for the native coin where a mint or contract is named (AMB-10). */
  nativeAsset: string
}

export interface PrimaryNetwork extends NetworkFacts {
  family: 'solana'
  genesisHash: string
}

export interface EvmNetwork extends NetworkFacts {
  family: 'evm'
  chainId: number
}

export type Network = PrimaryNetwork | EvmNetwork

export const PRIMARY: Readonly<PrimaryNetwork> = {
  family: 'solana',
  name: 'primary-mainnet',
  caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  sigAlg: 'ed25519',
  nativeAsset: 'So11111111111111111111111111111111111111112',
  genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
}

export const EVM: Readonly<EvmNetwork> = {
  family: 'evm',
  name: 'evm-mainnet',
  caip2: 'eip155:143',
  sigAlg: 'secp256k1',
  nativeAsset: '0x0000000000000000000000000000000000000000',
  chainId: 143,
}

export const NETWORKS: readonly Network[] = [PRIMARY, EVM]

const BY_NAME = new Map<string, Network>([
  ...NETWORKS.flatMap((network): [string, Network][] => [
    [network.name, network],
    [network.caip2, network],
  ]),
  ['primary-devnet', PRIMARY],
  ['primary-testnet', PRIMARY],
  ['evm-devnet', EVM],
  ['evm-testnet', EVM],
])

/** The network of a friendly name, a CAIP-2 id, or an older test network's name, which means the mainnet (AMB-09). */
export function networkNamed(text: string): Network | null {
  return BY_NAME.get(text) ?? null
}
