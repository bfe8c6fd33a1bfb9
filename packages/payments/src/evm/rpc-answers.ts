// Checks answers against the promises of JSON-RPC. viem passes most fields on unchecked and reads an answer without a
// result as "no such transaction".

import type { Hex } from 'viem'
import { NodeProblem } from '../nodes/node-pool.ts'

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

export interface FoundLog {
  /** Its first topic. */
  event: Hex
  tx: Hex
  height: number
  data: Hex
}

export interface Transaction {
  from: Hex
  /** Null for a transaction that creates a contract. */
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
  requireSameTransaction(tx, transactionHash)
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
  requireSameTransaction(tx, fields.hash)
  // Transactions from before EIP-155 name no chain.
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

/** The logs that a search has found, in order. */
export function readFoundLogs(answer: unknown): FoundLog[] {
  return list(answer).map((log) => {
    const { topics, transactionHash, blockNumber, data } = record(log)
    const height = Number(quantity(blockNumber))
    return { event: hash(list(topics)[0]), tx: hash(transactionHash), height, data: bytes(data) }
  })
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

function requireSameTransaction(tx: string, answered: unknown) {
  if (hash(answered) !== tx) throw new NodeProblem('a transaction other than the requested one')
}

export function record(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new NodeProblem('an answer of the wrong form')
  return value as Record<string, unknown> // an object that is not an array
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new NodeProblem('an invalid list')
  return value
}

export function quantity(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw new NodeProblem('an invalid number')
  return BigInt(value)
}

/** In lower case, so that equal values have equal texts. */
function bytes(value: unknown, length?: number): Hex {
  const isHex = typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(value)
  if (!isHex || (length !== undefined && value.length !== 2 + 2 * length))
    throw new NodeProblem(length === undefined ? 'invalid bytes' : `not ${length} bytes`)
  return value.toLowerCase() as Hex // by the pattern above
}

const hash = (value: unknown): Hex => bytes(value, 32)
const address = (value: unknown): Hex => bytes(value, 20)
