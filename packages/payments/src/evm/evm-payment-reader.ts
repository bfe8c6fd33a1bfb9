import { BaseError, createClient, HttpRequestError, hexToBytes, http, numberToHex, zeroAddress } from 'viem'
import { type ChainNode, createAskNodes, NodeProblem, nodeName } from '../ask-nodes.ts'
import type { ChainReading, Destination, PaymentReader } from '../payment.ts'
import { findReferences } from '../references.ts'
import { arrivalOf } from './arrival.ts'
import { quantity } from './rpc-values.ts'
import {
  type Block,
  type Receipt,
  readBlock,
  readReceipt,
  readTransaction,
  type Transaction,
} from './seen-transaction.ts'

export interface EvmPaymentReaderOptions {
  rpcUrls: readonly string[]
  chainId: number
  /** Which blocks count: those with enough confirmations, or those that the node calls finalized. */
  finality?: 'latest-confirmations' | 'finalized'
  /** How many blocks must hold the payment or stand on one that does; 1 is its own block alone. */
  confirmations?: number
  /** For one reading, however many questions it takes. */
  timeoutMs?: number
}

export function createEvmPaymentReader(options: EvmPaymentReaderOptions): PaymentReader {
  const { rpcUrls, chainId, finality = 'latest-confirmations', confirmations = 1, timeoutMs = 10_000 } = options
  const depth = finality === 'finalized' ? 'finalized' : confirmations
  const nodes = rpcUrls.map((url) => createNode(url, chainId, depth))
  const askNodes = createAskNodes(nodes, timeoutMs)
  return {
    isTransactionId,
    async read(tx, destination) {
      if (!isTransactionId(tx)) return { outcome: 'rejected', reason: 'wrong_transaction_form' }
      return askNodes(tx.toLowerCase(), destination)
    },
  }
}

function isTransactionId(text: string): boolean {
  return /^0x[0-9a-f]{64}$/i.test(text)
}

type Depth = number | 'finalized'
type AnyCall = { Method: string; Parameters: unknown[]; ReturnType: unknown }
type Ask = (method: string, params: unknown[], signal: AbortSignal) => Promise<unknown>

function createNode(url: string, chainId: number, depth: Depth): ChainNode {
  // The reading's own deadline rules; viem's would not cover the body of an answer.
  const client = createClient({ transport: http(url, { retryCount: 1, timeout: 0 }) })
  const ask: Ask = (method, params, signal) => client.request<AnyCall>({ method, params }, { signal })
  return {
    name: nodeName(url),
    describe,
    async requireChain(signal) {
      const found = quantity(await ask('eth_chainId', [], signal))
      if (found !== BigInt(chainId)) throw new NodeProblem(`a node of chain ${found}`)
    },
    async read(tx, destination, signal) {
      const [receiptAnswer, transactionAnswer] = await Promise.all([
        ask('eth_getTransactionReceipt', [tx], signal),
        ask('eth_getTransactionByHash', [tx], signal),
      ])
      if (receiptAnswer === null) return { outcome: 'not_found' }
      const receipt = readReceipt(tx, receiptAnswer)
      const transaction = readTransaction(tx, chainId, transactionAnswer)
      const settled = await settledHeight(ask, depth, signal)
      if (receipt.blockNumber > settled) return { outcome: 'not_found' }
      const block = readBlock(await ask('eth_getBlockByNumber', [numberToHex(receipt.blockNumber), false], signal))
      // The chain took another way since: the transaction may come again in another block, or never.
      if (block.hash !== receipt.blockHash) return { outcome: 'not_found' }
      if (!block.transactions.some((hash) => hash === tx)) throw new NodeProblem('a block without its transaction')
      return readingOf(tx, { receipt, transaction, block }, destination)
    },
  }
}

/** The highest block to rely on; may be below zero. */
async function settledHeight(ask: Ask, depth: Depth, signal: AbortSignal): Promise<bigint> {
  if (depth === 'finalized') return readBlock(await ask('eth_getBlockByNumber', ['finalized', false], signal)).number
  return quantity(await ask('eth_blockNumber', [], signal)) - BigInt(depth - 1)
}

interface Seen {
  receipt: Receipt
  transaction: Transaction
  block: Block
}

function readingOf(tx: string, { receipt, transaction, block }: Seen, destination: Destination): ChainReading {
  if (receipt.failed) return { outcome: 'rejected', reason: 'transaction_failed' }
  const { received, sources } = arrivalOf(receipt, transaction, destination)
  if (received <= 0n) return { outcome: 'rejected', reason: 'nothing_received' }
  const [payer, ...others] = sources
  // Freshly minted tokens come from nobody.
  if (payer === undefined || payer === zeroAddress || others.length > 0)
    return { outcome: 'rejected', reason: 'payer_unclear' }
  return {
    outcome: 'found',
    tx,
    payer,
    received,
    height: Number(receipt.blockNumber),
    blockTime: block.timestamp,
    references: findReferences(hexToBytes(transaction.input)),
  }
}

/** viem's short messages alone: its long ones quote the address. */
function describe(error: unknown): string {
  if (error instanceof HttpRequestError && error.status !== undefined) return `HTTP ${error.status}`
  if (error instanceof BaseError) return error.shortMessage
  return error instanceof Error ? error.name : 'no answer that can be read'
}
