import type { EvmNetwork, Network, SolanaNetwork } from '@svc/api/networks'
import { type EvmFinality, evmFamily } from './evm/family.ts'
import type { EvmPayerNode } from './evm/payer-node.ts'
import type { Family } from './family.ts'
import { type SolanaFinality, solanaFamily } from './solana/family.ts'
import type { SolanaPayerNode } from './solana/payer-node.ts'

export type Finality = SolanaFinality | EvmFinality

export type PayerNodeOf<Of extends Network> =
  | (Of extends SolanaNetwork ? SolanaPayerNode : never)
  | (Of extends EvmNetwork ? EvmPayerNode : never)

const FAMILIES = { solana: solanaFamily, evm: evmFamily }

export function familyOf<Of extends Network>({ family }: Of): Family<Of, Finality, PayerNodeOf<Of>> {
  return FAMILIES[family] as unknown as Family<Of, Finality, PayerNodeOf<Of>> // the entry of its family
}
