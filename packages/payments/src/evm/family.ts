import type { EvmNetwork } from '@svc/api/networks'
import { readInteger } from '@svc/service/program/config'
import { type Family, PROBE_TIMEOUT_MS } from '../family.ts'
import { createEvmBalanceReader } from './balance-reader.ts'
import { connectEvm } from './nodes.ts'
import { createEvmPayerNode, type EvmPayerNode } from './payer-node.ts'
import { createEvmPaymentReader, type EvmPaymentReaderOptions } from './payment-reader.ts'
import { createEvmDecimalsReader } from './token-decimals.ts'

export type EvmFinality = Required<Pick<EvmPaymentReaderOptions, 'confirmations' | 'finality'>>

const BLOCKS = { min: 1, max: 10_000 }

export const evmFamily: Family<EvmNetwork, EvmFinality, EvmPayerNode> = {
  isAddress: (text) => /^0x[0-9a-fA-F]{40}$/.test(text),

  /** A number of blocks, the payment's own included, or `finalized`, which the chain decides. */
  readFinality: (settings, what, text = '1') =>
    text === 'finalized'
      ? { confirmations: 1, finality: 'finalized' }
      : {
          confirmations: readInteger(settings, `${what} must be finalized or a number of blocks: it`, text, BLOCKS),
          finality: 'latest-confirmations',
        },

  open: (network, { rpcUrls, quorum }, finality) => ({
    reader: createEvmPaymentReader({ rpcUrls, chainId: network.chainId, quorum, ...finality }),
    payerNode: createEvmPayerNode(network, rpcUrls, quorum),
    balances: createEvmBalanceReader(network, rpcUrls, quorum),
    readDecimals: createEvmDecimalsReader(network, rpcUrls, quorum),
    probe: connectEvm(network, rpcUrls, { timeoutMs: PROBE_TIMEOUT_MS, quorum }),
  }),
}
