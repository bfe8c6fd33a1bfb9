import {
  type AccountMeta,
  type Address,
  decodeTransactionFromRpcResponse,
  getAccountMetasFromCompiledTransactionMessage,
  type Instruction,
  isSignerRole,
  type Transaction,
  walkInstructions,
} from '@solana/kit'
import { equalBytes, fromBase58 } from '@svc/protocol/bytes'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'
import { NodeProblem } from '../ask-nodes.ts'
import { readTokenChanges, type TokenChange } from './token-changes.ts'
import type { TransactionAnswer, TransactionMeta } from './transaction-answer.ts'

/** A node's answer about a transaction, checked as far as it can be without the chain. */
export interface SeenTransaction {
  slot: number
  blockTime: number | null
  failed: boolean
  fee: bigint
  /** The fee payer first. */
  accounts: readonly LamportChange[]
  tokens: readonly TokenChange[]
  /** Outer and inner. */
  instructions: readonly Instruction[]
}

interface LamportChange {
  address: Address
  signed: boolean
  before: bigint
  after: bigint
}

/** Throws at an answer that does not hold together: the types of the library are a promise of the node's. */
export function readTransaction(tx: string, answer: TransactionAnswer): SeenTransaction {
  const { meta, slot, blockTime } = answer
  if (!meta) throw new NodeProblem('the transaction comes without its effects')
  if (meta.err === undefined) throw new NodeProblem('the transaction comes without its outcome')
  const { transaction, compiledMessage, loadedAddresses } = decodeTransactionFromRpcResponse(answer)
  requireSignatures(tx, transaction)
  const keys = getAccountMetasFromCompiledTransactionMessage(compiledMessage, loadedAddresses)
  return {
    slot: Number(amount(slot)),
    blockTime: blockTime === null ? null : Number(amount(blockTime)),
    failed: meta.err !== null,
    fee: amount(meta.fee),
    accounts: readLamportChanges(keys, meta),
    tokens: readTokenChanges(keys, meta),
    instructions: walkInstructions({ compiledMessage, loadedAddresses, meta }),
  }
}

/** With every signature checked, a node can neither show other bytes for this id nor a signer who did not sign. */
function requireSignatures(tx: string, { messageBytes, signatures }: Transaction) {
  const [first] = Object.values(signatures)
  const id = fromBase58(tx, 64)
  if (!first || !id || !equalBytes(first, id)) throw new NodeProblem('another transaction than the one asked for')
  const message = new Uint8Array(messageBytes)
  for (const [signer, signature] of Object.entries(signatures))
    if (!signature || !ed25519PublicKeyFromBase58(signer)?.verify(message, signature))
      throw new NodeProblem('a transaction that is not signed')
}

function readLamportChanges(keys: readonly AccountMeta[], meta: TransactionMeta): LamportChange[] {
  const { preBalances, postBalances } = meta
  if (preBalances.length !== keys.length || postBalances.length !== keys.length)
    throw new NodeProblem('balances of other accounts than the transaction has')
  return keys.map(({ address, role }, index) => ({
    address,
    signed: isSignerRole(role),
    before: amount(preBalances[index]),
    after: amount(postBalances[index]),
  }))
}

function amount(value: unknown): bigint {
  if (typeof value !== 'bigint' || value < 0n) throw new NodeProblem('a number that is none')
  return value
}
