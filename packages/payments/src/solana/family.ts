import type { SolanaNetwork } from '@svc/api/networks'
import { fromBase58 } from '@svc/protocol/bytes'
import { type Family, PROBE_TIMEOUT_MS } from '../family.ts'
import { createSolanaBalanceReader } from './balance-reader.ts'
import { connectSolana } from './nodes.ts'
import { createSolanaPayerNode, type SolanaPayerNode } from './payer-node.ts'
import { createSolanaPaymentReader, type SolanaPaymentReaderOptions } from './payment-reader.ts'
import { watchTokenAccounts } from './token-accounts.ts'
import { createSolanaDecimalsReader } from './token-decimals.ts'

export type SolanaFinality = Required<Pick<SolanaPaymentReaderOptions, 'commitment'>>

export const solanaFamily: Family<SolanaNetwork, SolanaFinality, SolanaPayerNode> = {
  isAddress: (text) => fromBase58(text, 32) !== null,

  readFinality(settings, what, text = 'confirmed') {
    if (text !== 'confirmed' && text !== 'finalized')
      settings.problem(`${what} must be confirmed or finalized, not "${text}"`)
    return { commitment: text === 'finalized' ? 'finalized' : 'confirmed' }
  },

  open: (network, { rpcUrls, quorum }, finality) => ({
    reader: createSolanaPaymentReader({ rpcUrls, genesisHash: network.genesisHash, quorum, ...finality }),
    payerNode: createSolanaPayerNode(network, rpcUrls, quorum),
    balances: createSolanaBalanceReader(network, rpcUrls, quorum),
    readDecimals: createSolanaDecimalsReader(network, rpcUrls, quorum),
    probe: connectSolana(network, rpcUrls, { timeoutMs: PROBE_TIMEOUT_MS, quorum }),
    watchTokenAccounts: (accounts, now) => watchTokenAccounts({ network, rpcUrls, quorum, accounts, now }),
  }),
}
