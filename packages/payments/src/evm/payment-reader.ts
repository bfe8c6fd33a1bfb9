import { hexToBytes, numberToHex, zeroAddress } from 'viem'
import { NodeProblem } from '../nodes/node-pool.ts'
import type { ChainReading, Destination, PaymentReader } from '../payment.ts'
import { readPayment } from '../read-payment.ts'
import { findReferences } from '../references.ts'
import { arrivalOf } from './arrival.ts'
import { connectEvm, type EvmRpc } from './nodes.ts'
import {
  type Block,
  quantity,
  type Receipt,
  readBlock,
  readReceipt,
  readTransaction,
  type Transaction,
} from './rpc-answers.ts'

export interface EvmPaymentReaderOptions {
  rpcUrls: readonly string[]
  chainId: number
  /** Which blocks count: those with enough confirmations, or those that the node reports as finalized. */
  finality?: 'latest-confirmations' | 'finalized'
  /** The number of blocks from the payment's own block to the newest; 1 is its own block alone. */
  confirmations?: number
  /** How many nodes must agree. */
  quorum?: number
  /** The time limit of one reading, however many queries it takes. */
  timeoutMs?: number
}

type Depth = number | 'finalized'

export function createEvmPaymentReader(options: EvmPaymentReaderOptions): PaymentReader {
  const { rpcUrls, chainId, finality = 'latest-confirmations', confirmations = 1 } = options
  const { quorum = 1, timeoutMs = 10_000 } = options
  const depth = finality === 'finalized' ? 'finalized' : confirmations
  const pool = connectEvm({ chainId }, rpcUrls, { timeoutMs, quorum, retryCount: 1 })
  return {
    isTransactionId,
    async read(text, destination) {
      if (!isTransactionId(text)) return { outcome: 'rejected', reason: 'wrong_transaction_form' }
      const tx = text.toLowerCase()
      return readPayment(pool, async (rpc, signal) => {
        const seen = await fetchTransaction(rpc, tx, chainId, depth, signal)
        return seen ? readingOf(tx, seen, destination) : { outcome: 'not_found' }
      })
    },
  }
}

function isTransactionId(text: string): boolean {
  return /^0x[0-9a-f]{64}$/i.test(text)
}

interface Observed {
  receipt: Receipt
  transaction: Transaction
  block: Block
}

/** Null when no block that can be relied on contains it. */
async function fetchTransaction(
  rpc: EvmRpc,
  tx: string,
  chainId: number,
  depth: Depth,
  signal: AbortSignal,
): Promise<Observed | null> {
  const [receiptAnswer, transactionAnswer] = await Promise.all([
    rpc('eth_getTransactionReceipt', [tx], signal),
    rpc('eth_getTransactionByHash', [tx], signal),
  ])
  if (receiptAnswer === null) return null
  const receipt = readReceipt(tx, receiptAnswer)
  const transaction = readTransaction(tx, chainId, transactionAnswer)
  if (receipt.blockNumber > (await reliableHeight(rpc, depth, signal))) return null
  const block = readBlock(await rpc('eth_getBlockByNumber', [numberToHex(receipt.blockNumber), false], signal))
  // The chain was reorganized since: the transaction may reappear in another block, or never.
  if (block.hash !== receipt.blockHash) return null
  if (!block.transactions.some((hash) => hash === tx)) throw new NodeProblem('a block without its transaction')
  return { receipt, transaction, block }
}

/** The highest block to rely on; may be below zero. */
async function reliableHeight(rpc: EvmRpc, depth: Depth, signal: AbortSignal): Promise<bigint> {
  if (depth === 'finalized') return readBlock(await rpc('eth_getBlockByNumber', ['finalized', false], signal)).number
  return quantity(await rpc('eth_blockNumber', [], signal)) - BigInt(depth - 1)
}

function readingOf(tx: string, { receipt, transaction, block }: Observed, destination: Destination): ChainReading {
  if (receipt.failed) return { outcome: 'rejected', reason: 'transaction_failed' }
  const { received, sources, authorizations } = arrivalOf(receipt, transaction, destination)
  if (received <= 0n) return { outcome: 'rejected', reason: 'nothing_received' }
  const [payer, ...others] = sources
  // Newly minted tokens have no sender.
  if (payer === undefined || payer === zeroAddress || others.length > 0)
    return { outcome: 'rejected', reason: 'payer_unclear' }
  return {
    outcome: 'found',
    tx,
    payer,
    received,
    height: Number(receipt.blockNumber),
    blockTime: block.timestamp,
    // Anyone may send an authorization, and add any text to the calldata.
    references: destination.authorization === undefined ? findReferences(hexToBytes(transaction.input)) : [],
    authorizations,
  }
}
