import {
  createSolanaRpc,
  isSolanaError,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION,
  SOLANA_ERROR__RPC__TRANSPORT_HTTP_ERROR,
} from '@solana/kit'
import { SUPPORTED_MEMO_PROGRAM_ADDRESSES } from '@solana-program/memo'
import { fromBase58 } from '@svc/protocol/bytes'
import { type ChainNode, createAskNodes, NodeProblem, nodeName } from '../ask-nodes.ts'
import { PRIMARY } from '../networks.ts'
import type { ChainReading, Destination, PaymentReader } from '../payment.ts'
import { findReferences } from '../references.ts'
import { solPayer, tokenPayer } from './payer.ts'
import { readTransaction, type SeenTransaction } from './seen-transaction.ts'
import { askForTransaction, type PaymentCommitment } from './transaction-answer.ts'

export interface SolanaPaymentReaderOptions {
  rpcUrls: readonly string[]
  /** Which chain the nodes must be on. */
  genesisHash: string
  commitment?: PaymentCommitment
  /** For one reading, however many questions it takes. */
  timeoutMs?: number
}

export function createSolanaPaymentReader(options: SolanaPaymentReaderOptions): PaymentReader {
  const { rpcUrls, genesisHash, commitment = 'confirmed', timeoutMs = 10_000 } = options
  const nodes = rpcUrls.map((url) => createNode(url, genesisHash, commitment))
  const askNodes = createAskNodes(nodes, timeoutMs)
  return {
    isTransactionId,
    async read(tx, destination) {
      if (!isTransactionId(tx)) return { outcome: 'rejected', reason: 'wrong_transaction_form' }
      return askNodes(tx, destination)
    },
  }
}

function isTransactionId(text: string): boolean {
  return fromBase58(text, 64) !== null
}

function createNode(url: string, genesisHash: string, commitment: PaymentCommitment): ChainNode {
  const rpc = createSolanaRpc(url)
  return {
    name: nodeName(url),
    describe,
    async requireChain(abortSignal) {
      const found: string = await rpc.getGenesisHash().send({ abortSignal })
      if (found !== genesisHash) throw new NodeProblem('a node of another chain')
    },
    async read(tx, destination, signal) {
      try {
        const answer = await askForTransaction(rpc, tx, commitment, signal)
        if (answer === null) return { outcome: 'not_found' }
        return readingOf(tx, readTransaction(tx, answer), destination)
      } catch (error) {
        // The node has the transaction, in a version that came after the ones read here: no retry helps.
        if (isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION))
          return { outcome: 'rejected', reason: 'wrong_transaction_form' }
        throw error
      }
    },
  }
}

function readingOf(tx: string, seen: SeenTransaction, { asset, payTo }: Destination): ChainReading {
  if (seen.failed) return { outcome: 'rejected', reason: 'transaction_failed' }
  const received = asset === PRIMARY.nativeAsset ? receivedLamports(seen, payTo) : receivedTokens(seen, payTo, asset)
  if (received <= 0n) return { outcome: 'rejected', reason: 'nothing_received' }
  const payer = asset === PRIMARY.nativeAsset ? solPayer(seen, payTo, received) : tokenPayer(seen, asset)
  if (payer === null) return { outcome: 'rejected', reason: 'payer_unclear' }
  const { slot: height, blockTime } = seen
  return { outcome: 'found', tx, payer, received, height, blockTime, references: referencesIn(seen) }
}

// Balances, not instructions, tell what arrived: they see inner transfers, batches, lookup tables and transfer fees.
function receivedLamports({ accounts }: SeenTransaction, payTo: string): bigint {
  const account = accounts.find(({ address }) => address === payTo)
  return account ? account.after - account.before : 0n
}

function receivedTokens({ tokens }: SeenTransaction, payTo: string, mint: string): bigint {
  const change = tokens.find((token) => token.account === payTo && token.mint === mint)
  return change ? change.after - change.before : 0n
}

function referencesIn({ instructions }: SeenTransaction): string[] {
  const memoPrograms: readonly string[] = SUPPORTED_MEMO_PROGRAM_ADDRESSES
  const memos = instructions.filter(({ programAddress }) => memoPrograms.includes(programAddress))
  return findReferences(...memos.map(({ data }) => new Uint8Array(data ?? [])))
}

function describe(error: unknown): string {
  if (isSolanaError(error, SOLANA_ERROR__RPC__TRANSPORT_HTTP_ERROR)) return `HTTP ${error.context.statusCode}`
  if (isSolanaError(error)) return `error ${error.context.__code}`
  // Anything else may quote the address it was sent to.
  return error instanceof Error ? error.name : 'no answer that can be read'
}
