// The facts that need a node of the chain.
//
// `failed`: the node's answer contradicts the bundle, or the node does not know the transaction. An anchor that nobody can
// find must not count as unchecked, although a node that prunes old blocks gives the same answer. `unavailable`: there
// was no usable answer, because the node is down, answers nonsense, is of another chain, or sent bytes that are not the
// requested transaction. `not_checked`: there was nothing to ask.

import { anchorMemo, anchorPayload, MEMO_PROGRAMS } from '@svc/protocol/anchor'
import { equalBytes } from '@svc/protocol/bytes'
import { canonicalBytes, type Json } from '@svc/protocol/canonical'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { type Fact, failed, notChecked, type OnlineFacts, PASSED, passedUnless, unavailable } from './facts.ts'
import { registryMatches } from './registry-fact.ts'
import { type AnchorTransaction, askGenesisHash, askTransaction, type Rpc } from './rpc.ts'
import { type JsonObject, printable } from './untrusted.ts'
import { isTransactionId } from './wire-transaction.ts'

const ANCHOR_TYPES = ['chain_sas_v1', 'chain_memo_v2', 'oracle_v2']

export async function onlineFacts(
  rpc: Rpc | undefined,
  anchor: JsonObject | null,
  envelope: EvidenceEnvelope | null,
  pinnedSigners: readonly string[],
): Promise<OnlineFacts> {
  if (!anchor) return all(notChecked('the bundle has no anchor'))
  if (!rpc) return all(notChecked('no node was asked'))
  if (!ANCHOR_TYPES.includes(anchor.type as string)) return all(notChecked('an anchor of a type that is not known'))
  const mismatch = await wrongChain(rpc, anchor)
  if (mismatch) return all(unavailable(mismatch))
  return {
    ...(await transactionFacts(rpc, { anchor, envelope, pinnedSigners })),
    registry_matches: await registryMatches(rpc, anchor, envelope),
  }
}

async function transactionFacts(rpc: Rpc, question: AnchorQuestion) {
  const { tx } = question.anchor
  if (typeof tx !== 'string' || !isTransactionId(tx)) return notFound('anchor.tx is not a transaction')
  const answer = await askTransaction(rpc, tx)
  if ('unavailable' in answer) return all(unavailable(answer.unavailable))
  if (!answer.found) return notFound('the node knows no such transaction')
  return anchorFacts(question, answer.found)
}

/** CAIP-2: a chain of this family is named by the first 32 characters of its genesis hash. */
async function wrongChain(rpc: Rpc, { chain }: JsonObject): Promise<string | null> {
  const answer = await askGenesisHash(rpc)
  if ('unavailable' in answer) return answer.unavailable
  return chain === `solana:${answer.found?.slice(0, 32)}` ? null : 'the node is of another chain than the anchor'
}

function notFound(why: string): OnlineFacts {
  return { ...all(unavailable('there is no transaction to look at')), anchor_tx_succeeded: failed(why) }
}

function all(fact: Fact): OnlineFacts {
  return {
    anchor_tx_succeeded: fact,
    anchor_signer_matches: fact,
    anchor_payload_matches: fact,
    anchor_slot_matches: fact,
    anchor_finalized: fact,
    registry_matches: fact,
  }
}

type AnchorFacts = Omit<OnlineFacts, 'registry_matches'>

interface AnchorQuestion {
  anchor: JsonObject
  /** Null when the bundle has none, or one that is malformed. */
  envelope: EvidenceEnvelope | null
  /** Publication keys in base58 that the verifier got from elsewhere than the bundle. */
  pinnedSigners: readonly string[]
}

function anchorFacts(question: AnchorQuestion, transaction: AnchorTransaction): AnchorFacts {
  const { anchor } = question
  const { error } = transaction
  return {
    anchor_tx_succeeded: passedUnless(
      error === null ? null : `the transaction failed: ${printable(JSON.stringify(error), 200)}`,
    ),
    anchor_signer_matches: signerMatches(question, transaction),
    anchor_payload_matches: payloadMatches(question, transaction),
    anchor_slot_matches: slotMatches(anchor, transaction),
    anchor_finalized: finalized(anchor, transaction),
  }
}

/** Oracle-era anchors name the account that was written to, but no signer and no payload to compare. */
const NO_PAYLOAD = notChecked('an anchor of the oracle era says nothing of it')

function signerMatches({ anchor, pinnedSigners }: AnchorQuestion, { signers }: AnchorTransaction): Fact {
  if (anchor.type === 'oracle_v2') return NO_PAYLOAD
  const { signer } = anchor
  if (typeof signer !== 'string' || !signers.includes(signer))
    return failed('anchor.signer did not sign the transaction')
  if (pinnedSigners.length === 0 || pinnedSigners.includes(signer)) return PASSED
  return failed('the signer is not among the pinned publication keys')
}

/**
 * One memo of the message itself must be the payload, byte for byte. Other memos do not matter. A memo that a program
 * wrote does not count, because the signer need not have meant it.
 */
function payloadMatches({ anchor, envelope }: AnchorQuestion, { instructions }: AnchorTransaction): Fact {
  if (anchor.type === 'oracle_v2') return NO_PAYLOAD
  if (!envelope) return failed('the bundle has no statement that this anchor could publish')
  const memo = anchorMemo(anchorPayload(envelope))
  const isPublished = instructions.some(
    ({ program, data }) => MEMO_PROGRAMS.includes(program) && equalBytes(data, memo),
  )
  if (!isPublished) return failed('no memo of the transaction is the payload of this statement')
  if (!isCanonically(anchor.payload, memo)) return failed('anchor.payload is not the payload of this statement')
  const { statement_digest, body } = envelope
  const isNamed = anchor.statement_digest === statement_digest && anchor.snapshot_id === body.snapshot_id
  return passedUnless(isNamed ? null : 'the anchor names another statement')
}

function isCanonically(value: Json | undefined, bytes: Uint8Array): boolean {
  try {
    return value !== undefined && equalBytes(canonicalBytes(value), bytes)
  } catch {
    return false
  }
}

function slotMatches(anchor: JsonObject, { slot, blockTime }: AnchorTransaction): Fact {
  const { slot: said, block_time = null } = anchor
  if (said === null) return notChecked('the anchor names no slot')
  if (said !== slot) return failed(`the transaction is in slot ${slot}`)
  const isSameTime = block_time === null || blockTime === null || block_time === blockTime
  return passedUnless(isSameTime ? null : `the block's time is ${blockTime}`)
}

/** A recent anchor is not wrong. Only one that claims to be final, and is not, fails. */
function finalized(anchor: JsonObject, { isFinal }: AnchorTransaction): Fact {
  if (isFinal) return PASSED
  if (anchor.finalized === true) return failed('the anchor says it is final, the node that it is not')
  return notChecked('confirmed, and not final yet: ask again')
}
