// The transaction of an anchor, which publishes a statement or a checkpoint of a log.

import { MEMO_PROGRAMS } from '@svc/protocol/anchor'
import { equalBytes } from '@svc/protocol/bytes'
import { canonicalBytes, type Json } from '@svc/protocol/canonical'
import { type Fact, failed, notChecked, PASSED, passedUnless } from './facts.ts'
import { type AnchorTransaction, askGenesisHash, askTransaction, type Rpc } from './rpc.ts'
import { type JsonObject, printable } from './untrusted.ts'
import { isTransactionId } from './wire-transaction.ts'

/** Null if the node is on the anchor's chain. CAIP-2 names it by the first 32 characters of its genesis hash. */
export async function wrongChain(rpc: Rpc, { chain }: JsonObject): Promise<string | null> {
  const answer = await askGenesisHash(rpc)
  if ('unavailable' in answer) return answer.unavailable
  return chain === `solana:${answer.found?.slice(0, 32)}` ? null : 'the node is on another chain than the anchor'
}

type Found = { found: AnchorTransaction } | { notFound: string } | { unavailable: string }

/** The caller has checked that the node is on the right chain. */
export async function findTransaction(rpc: Rpc, { tx }: JsonObject): Promise<Found> {
  if (typeof tx !== 'string' || !isTransactionId(tx)) return { notFound: 'anchor.tx is not a transaction id' }
  const answer = await askTransaction(rpc, tx)
  if ('unavailable' in answer) return answer
  return answer.found ? { found: answer.found } : { notFound: 'the node does not know the transaction' }
}

export function txSucceeded({ error }: AnchorTransaction): Fact {
  return passedUnless(error === null ? null : `the transaction failed: ${printable(JSON.stringify(error), 200)}`)
}

/** `pinnedSigners`: publication keys in base58 from a source other than the bundle. */
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
 * One memo of the message itself must have exactly these bytes. Other memos are allowed. A memo that a program wrote
 * does not count, because the signer may not have intended it.
 */
export function hasMemo({ instructions }: AnchorTransaction, memo: Uint8Array): boolean {
  return instructions.some(({ program, data }) => MEMO_PROGRAMS.includes(program) && equalBytes(data, memo))
}

export function hasCanonicalBytes(value: Json | undefined, bytes: Uint8Array): boolean {
  try {
    return value !== undefined && equalBytes(canonicalBytes(value), bytes)
  } catch {
    return false
  }
}

/** Whether slot, block time and fee of the anchor match the transaction. */
export function slotMatches(anchor: JsonObject, { slot, blockTime, feeLamports }: AnchorTransaction): Fact {
  const { slot: claimed, block_time = null, fee_lamports = null } = anchor
  if (claimed !== null && claimed !== slot) return failed(`the transaction is in slot ${slot}`)
  const isSameTime = block_time === null || blockTime === null || block_time === blockTime
  if (!isSameTime) return failed(`the block time is ${blockTime}`)
  const isSameFee = fee_lamports === null || fee_lamports === feeLamports
  if (!isSameFee) return failed(`the fee is ${feeLamports}`)
  return claimed === null ? notChecked('the anchor names no slot') : PASSED
}

/**
 * A recent anchor need not be final, and an anchor may have been recorded before it was final. The fact fails if the
 * anchor claims to be final and is not, or if its two fields contradict each other.
 */
export function finalized({ commitment = null, finalized = null }: JsonObject, { isFinal }: AnchorTransaction): Fact {
  if (!isCoherent(commitment, finalized)) return failed('commitment and finalized of the anchor do not agree')
  if (isFinal) return PASSED
  if (finalized === true || commitment === 'finalized')
    return failed('the anchor claims to be final, but the node reports that it is not')
  return notChecked('the transaction is confirmed, but not final yet: verify again later')
}

/** Either field may be missing. */
function isCoherent(commitment: Json, finalized: Json): boolean {
  if (commitment === null) return finalized === null || typeof finalized === 'boolean'
  if (commitment !== 'confirmed' && commitment !== 'finalized') return false
  return finalized === null || finalized === (commitment === 'finalized')
}
