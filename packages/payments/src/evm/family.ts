import type { EvmNetwork } from '@svc/api/networks'
import { type Family, PROBE_TIMEOUT_MS } from '../family.ts'
import { createEvmBalanceReader } from './balance-reader.ts'
import { connectEvm } from './nodes.ts'
import { createEvmPayerNode, type EvmPayerNode } from './payer-node.ts'
import { createEvmPaymentReader, type EvmPaymentReaderOptions } from './payment-reader.ts'
import { createEvmDecimalsReader } from './token-decimals.ts'

export type EvmFinality = Required<Pick<EvmPaymentReaderOptions, 'confirmations' | 'finality'>>

export const evmFamily: Family<EvmNetwork, EvmFinality, EvmPayerNode> = {
  isAddress: (text) => /^0x[0-9a-fA-F]{40}$/.test(text),

  readFinality: (settings, prefix) => ({
    confirmations: settings.integer(`${prefix}_CONFIRMATIONS`, 1, { min: 1, max: 10_000 }),
    finality: settings.oneOf(`${prefix}_FINALITY`, ['latest-confirmations', 'finalized'], 'latest-confirmations'),
  }),

  open: (network, { rpcUrls, quorum }, finality) => ({
    reader: createEvmPaymentReader({ rpcUrls, chainId: network.chainId, quorum, ...finality }),
    payerNode: createEvmPayerNode(network, rpcUrls, quorum),
    balances: createEvmBalanceReader(network, rpcUrls, quorum),
    readDecimals: createEvmDecimalsReader(network, rpcUrls, quorum),
    probe: connectEvm(network, rpcUrls, { timeoutMs: PROBE_TIMEOUT_MS, quorum }),
  }),
}
