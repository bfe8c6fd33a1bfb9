// The transaction that an anchor names, whatever it publishes: a statement, or a checkpoint of a log.

import { MEMO_PROGRAMS } from '@svc/protocol/anchor'
import { equalBytes } from '@svc/protocol/bytes'
import { canonicalBytes, type Json } from '@svc/protocol/canonical'
import { type Fact, failed, notChecked, PASSED, passedUnless } from './facts.ts'
import { type AnchorTransaction, askGenesisHash, askTransaction, type Rpc } from './rpc.ts'
import { type JsonObject, printable } from './untrusted.ts'
import { isTransactionId } from './wire-transaction.ts'

/** CAIP-2: a chain of this family is named by the first 32 characters of its genesis hash. */
export async function wrongChain(rpc: Rpc, { chain }: JsonObject): Promise<string | null> {
  const answer = await askGenesisHash(rpc)
  if ('unavailable' in answer) return answer.unavailable
  return chain === `solana:${answer.found?.slice(0, 32)}` ? null : 'the node is of another chain than the anchor'
}

type Found = { found: AnchorTransaction } | { notFound: string } | { unavailable: string }

/** A node of the right chain is asked. */
export async function findTransaction(rpc: Rpc, { tx }: JsonObject): Promise<Found> {
  if (typeof tx !== 'string' || !isTransactionId(tx)) return { notFound: 'anchor.tx is not a transaction' }
  const answer = await askTransaction(rpc, tx)
  if ('unavailable' in answer) return answer
  return answer.found ? { found: answer.found } : { notFound: 'the node knows no such transaction' }
}

export function txSucceeded({ error }: AnchorTransaction): Fact {
  return passedUnless(error === null ? null : `the transaction failed: ${printable(JSON.stringify(error), 200)}`)
}

/** `pinnedSigners`: publication keys in base58 that the verifier got from elsewhere than the bundle. */
export function signerMatches(
  { signer }: JsonObject,
  { signers }: AnchorTransaction,
  pinnedSigners: readonly string[],
): Fact {
  if (typeof signer !== 'string' || !signers.includes(signer))
    return failed('anchor.signer did not sign the transaction')
  if (pinnedSigners.length === 0 || pinnedSigners.includes(signer)) return PASSED
  return failed('the signer is not among the pinned publication keys')
}

/**
 * One memo of the message itself must be these bytes. Other memos do not matter. A memo that a program wrote does not
 * count, because the signer need not have meant it.
 */
export function publishes({ instructions }: AnchorTransaction, memo: Uint8Array): boolean {
  return instructions.some(({ program, data }) => MEMO_PROGRAMS.includes(program) && equalBytes(data, memo))
}

export function isCanonically(value: Json | undefined, bytes: Uint8Array): boolean {
  try {
    return value !== undefined && equalBytes(canonicalBytes(value), bytes)
  } catch {
    return false
  }
}

/** Where the transaction is, when it was taken, and what it cost. */
export function slotMatches(anchor: JsonObject, { slot, blockTime, feeLamports }: AnchorTransaction): Fact {
  const { slot: said, block_time = null, fee_lamports = null } = anchor
  if (said !== null && said !== slot) return failed(`the transaction is in slot ${slot}`)
  const isSameTime = block_time === null || blockTime === null || block_time === blockTime
  if (!isSameTime) return failed(`the block's time is ${blockTime}`)
  const isSameFee = fee_lamports === null || fee_lamports === feeLamports
  if (!isSameFee) return failed(`the fee is ${feeLamports}`)
  return said === null ? notChecked('the anchor names no slot') : PASSED
}

/**
 * A recent anchor is not wrong, and one that was recorded before it was final may still say so. One that claims to be
 * final, and is not, fails, and so does one whose two fields contradict each other.
 */
export function finalized({ commitment = null, finalized = null }: JsonObject, { isFinal }: AnchorTransaction): Fact {
  if (!isCoherent(commitment, finalized)) return failed('commitment and finalized of the anchor do not agree')
  if (isFinal) return PASSED
  if (finalized === true || commitment === 'finalized')
    return failed('the anchor says it is final, the node that it is not')
  return notChecked('confirmed, and not final yet: ask again')
}

/** Either may be missing. */
function isCoherent(commitment: Json, finalized: Json): boolean {
  if (commitment === null) return finalized === null || typeof finalized === 'boolean'
  if (commitment !== 'confirmed' && commitment !== 'finalized') return false
  return finalized === null || finalized === (commitment === 'finalized')
}
