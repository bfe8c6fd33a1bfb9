// Transactions and accounts of the primary chain, and a node's answers about them.

import type { RpcAnswer } from './case.ts'
import { base58, fromBase58, type Json, type JsonObject, sha256 } from './formats.ts'
import { type PackKey, PUBLICATION_KEY } from './keys.ts'

export const MEMO = {
  v1: 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  v3: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  v4: 'Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH',
}
export const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111'
export const GENESIS_HASH = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
export const CHAIN = `solana:${GENESIS_HASH.slice(0, 32)}`
export const SLOT = 400_000_000
export const BLOCK_TIME = 1_781_222_402

export interface Instruction {
  program: string
  data: Uint8Array
}

export interface TransactionOrder {
  instructions: Instruction[]
  /** The first pays the fee. */
  signers?: PackKey[]
  version?: 'legacy' | 0
}

export interface SignedTransaction {
  id: string
  base64: string
}

export function transactionOf({
  instructions,
  signers = [PUBLICATION_KEY],
  version = 'legacy',
}: TransactionOrder): SignedTransaction {
  const programs = [...new Set(instructions.map(({ program }) => program))]
  const keys = [...signers.map((signer) => signer.base58), ...programs]
  const message = Buffer.concat([
    ...(version === 0 ? [Uint8Array.of(0x80)] : []),
    Uint8Array.of(signers.length, 0, programs.length),
    list(keys.map((key) => fromBase58(key, 32))),
    Buffer.from(sha256('a recent blockhash'), 'hex'),
    list(
      instructions.map(({ program, data }) =>
        Buffer.concat([Uint8Array.of(keys.indexOf(program)), list([Uint8Array.of(0)]), length(data.length), data]),
      ),
    ),
    ...(version === 0 ? [length(0)] : []),
  ])
  const signatures = signers.map((signer) => Buffer.from(signer.sign(message), 'hex'))
  const bytes = Buffer.concat([list(signatures), message])
  return { id: base58(signatures[0] as Buffer), base64: bytes.toString('base64') }
}

function list(items: Uint8Array[]): Uint8Array {
  return Buffer.concat([length(items.length), ...items])
}

function length(value: number): Uint8Array {
  return value < 0x80 ? Uint8Array.of(value) : Uint8Array.of((value & 0x7f) | 0x80, value >> 7)
}

export function genesis(hash = GENESIS_HASH): RpcAnswer {
  return { method: 'getGenesisHash', params: [], result: hash }
}

export type Level = 'confirmed' | 'finalized'

export function transactionAnswer(id: string, level: Level, result: Json): RpcAnswer {
  return { ...transactionQuestion(id, level), result }
}

export function transactionError(id: string, level: Level): RpcAnswer {
  return { ...transactionQuestion(id, level), error: { code: -32005, message: 'Node is behind' } }
}

function transactionQuestion(id: string, level: Level) {
  const options = { commitment: level, encoding: 'base64', maxSupportedTransactionVersion: 0 }
  return { method: 'getTransaction', params: [id, options] }
}

export function transactionResult(
  { base64 }: SignedTransaction,
  change: JsonObject = {},
  meta: JsonObject = {},
): JsonObject {
  return {
    blockTime: BLOCK_TIME,
    slot: SLOT,
    version: 'legacy',
    transaction: [base64, 'base64'],
    meta: { err: null, status: { Ok: null }, fee: 5000, innerInstructions: [], logMessages: [], ...meta },
    ...change,
  }
}

/** A final transaction, and a node that knows nothing else. */
export function known(transaction: SignedTransaction, change: JsonObject = {}, meta: JsonObject = {}): RpcAnswer[] {
  return [genesis(), transactionAnswer(transaction.id, 'finalized', transactionResult(transaction, change, meta))]
}

/** A transaction that is confirmed and not final. */
export function young(transaction: SignedTransaction): RpcAnswer[] {
  return [
    genesis(),
    transactionAnswer(transaction.id, 'finalized', null),
    transactionAnswer(transaction.id, 'confirmed', transactionResult(transaction)),
  ]
}

export function accountAnswer(address: string, value: Json): RpcAnswer {
  const params = [address, { encoding: 'base64', commitment: 'confirmed' }]
  return { method: 'getAccountInfo', params, result: { context: { slot: SLOT }, value } }
}
