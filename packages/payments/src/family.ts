// The interface of a family of networks. Each family has one entry in `families.ts`; all other code chooses by network.

import type { Network } from '@svc/api/networks'
import type { SettingsReader } from '@svc/service/program/config'
import type { BalanceReader } from './balance-reader.ts'
import type { ReadDecimals } from './decimals.ts'
import type { NodePool } from './nodes/node-pool.ts'
import type { PaymentReader } from './payment.ts'

export interface Family<Of extends Network, Finality, Node> {
  isAddress(text: string): boolean
  /**
   * Parses how final a payment must be, from the text for a network in the setting `what`; undefined uses the default.
   */
  readFinality(settings: SettingsReader, what: string, text: string | undefined): Finality
  open(network: Of, nodes: ChainNodes, finality: Finality | undefined): Chain<Node>
}

export interface ChainNodes {
  rpcUrls: readonly string[]
  /** How many of them must agree before money depends on an answer. */
  quorum: number
}

/** Access to a network through its nodes. */
export interface Chain<Node> {
  reader: PaymentReader
  /** For payers without a node of their own. */
  payerNode: Node
  balances: BalanceReader
  readDecimals: ReadDecimals
  /** Whether the network can be reached. */
  probe: Pick<NodePool<unknown>, 'isAvailable'>
  /** For families that pay tokens to token accounts, which must exist. */
  watchTokenAccounts?(accounts: readonly string[], now: () => number): TokenAccounts
}

export interface TokenAccounts {
  /** Which of the treasury's token accounts exist: money sent to a missing one would be lost or rejected. */
  existing(): Promise<ReadonlySet<string>>
  /** Whether a node has answered since the start. */
  isKnown(): boolean
}

/** Health checks must be answered even while a node hangs. */
export const PROBE_TIMEOUT_MS = 2_000
