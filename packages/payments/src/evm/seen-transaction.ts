import type { Hex } from 'viem'
import { NodeProblem } from '../ask-nodes.ts'
import { address, bytes, hash, list, quantity, record } from './rpc-values.ts'

export interface Receipt {
  blockNumber: bigint
  blockHash: Hex
  failed: boolean
  logs: readonly Log[]
}

export interface Log {
  address: Hex
  topics: readonly Hex[]
  data: Hex
  removed: boolean
}

export interface Transaction {
  from: Hex
  /** Null for a transaction that makes a contract. */
  to: Hex | null
  value: bigint
  input: Hex
}

export interface Block {
  number: bigint
  hash: Hex
  timestamp: number
  transactions: readonly Hex[]
}

export function readReceipt(tx: string, answer: unknown): Receipt {
  const { transactionHash, blockNumber, blockHash, status, logs } = record(answer)
  requireAsked(tx, transactionHash)
  const succeeded = quantity(status)
  if (succeeded > 1n) throw new NodeProblem('a receipt without an outcome')
  return {
    blockNumber: quantity(blockNumber),
    blockHash: hash(blockHash),
    failed: succeeded === 0n,
    logs: list(logs).map(readLog),
  }
}

export function readTransaction(tx: string, chainId: number, answer: unknown): Transaction {
  const fields = record(answer)
  requireAsked(tx, fields.hash)
  // Transactions of before EIP-155 name no chain.
  if (fields.chainId != null && quantity(fields.chainId) !== BigInt(chainId))
    throw new NodeProblem('a transaction of another chain')
  return {
    from: address(fields.from),
    to: fields.to == null ? null : address(fields.to),
    value: quantity(fields.value),
    input: bytes(fields.input),
  }
}

export function readBlock(answer: unknown): Block {
  const fields = record(answer)
  return {
    number: quantity(fields.number),
    hash: hash(fields.hash),
    timestamp: Number(quantity(fields.timestamp)),
    transactions: list(fields.transactions).map(hash),
  }
}

function readLog(answer: unknown): Log {
  const fields = record(answer)
  return {
    address: address(fields.address),
    topics: list(fields.topics).map(hash),
    data: bytes(fields.data),
    removed: fields.removed === true,
  }
}

function requireAsked(tx: string, answered: unknown) {
  if (hash(answered) !== tx) throw new NodeProblem('another transaction than the one asked for')
}
