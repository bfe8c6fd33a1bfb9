// What a family of networks can do. Each has one entry in `families.ts`; everything else goes by network.

import type { Network } from '@svc/api/networks'
import type { SettingsReader } from '@svc/service/program/config'
import type { BalanceReader } from './balance-reader.ts'
import type { ReadDecimals } from './decimals.ts'
import type { NodePool } from './nodes/node-pool.ts'
import type { PaymentReader } from './payment.ts'

export interface Family<Of extends Network, Finality, Node> {
  isAddress(text: string): boolean
  /** How final a payment must be, from the text for a network in the setting `what`; undefined for the usual. */
  readFinality(settings: SettingsReader, what: string, text: string | undefined): Finality
  open(network: Of, nodes: ChainNodes, finality: Finality | undefined): Chain<Node>
}

export interface ChainNodes {
  rpcUrls: readonly string[]
  /** How many of them must agree on what decides about money. */
  quorum: number
}

/** A network as its nodes show it. */
export interface Chain<Node> {
  reader: PaymentReader
  /** For payers that reach no node by themselves. */
  payerNode: Node
  balances: BalanceReader
  readDecimals: ReadDecimals
  /** Asked whether the network is there. */
  probe: Pick<NodePool<unknown>, 'isAvailable'>
  /** Where tokens are paid to accounts of their own, which must exist. */
  watchTokenAccounts?(accounts: readonly string[], now: () => number): TokenAccounts
}

export interface TokenAccounts {
  /** Which of the treasury's token accounts exist: money sent to one that does not would be lost or refused. */
  existing(): Promise<ReadonlySet<string>>
  /** Whether a node has answered since the start. */
  isKnown(): boolean
}

/** For health, which must be answered where a node hangs. */
export const PROBE_TIMEOUT_MS = 2_000
