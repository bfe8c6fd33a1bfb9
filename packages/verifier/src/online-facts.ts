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
import type { BundleParts } from './read-bundle.ts'
import { registryMatches } from './registry-fact.ts'
import { type AnchorTransaction, askGenesisHash, askTransaction, type Rpc } from './rpc.ts'
import { type JsonObject, printable } from './untrusted.ts'
import { isTransactionId } from './wire-transaction.ts'

const ANCHOR_TYPES = ['chain_sas_v1', 'chain_memo_v2', 'oracle_v2']

export interface OnlineCheck {
  facts: OnlineFacts
  /** What the anchor was compared with; null when there was nothing. */
  transaction: AnchorTransaction | null
}

export async function checkOnline(
  rpc: Rpc | undefined,
  { anchor, ...question }: AnchorQuestion<JsonObject | null>,
): Promise<OnlineCheck> {
  if (!anchor) return nothing(notChecked('the bundle has no anchor'))
  if (!rpc) return nothing(notChecked('no node was asked'))
  if (!ANCHOR_TYPES.includes(anchor.type as string)) return nothing(notChecked('an anchor of a type that is not known'))
  const mismatch = await wrongChain(rpc, anchor)
  if (mismatch) return nothing(unavailable(mismatch))
  const { facts, transaction } = await checkTransaction(rpc, { anchor, ...question })
  const registry_matches = await registryMatches(rpc, anchor, question.envelope)
  return { facts: { ...facts, registry_matches }, transaction }
}

function nothing(fact: Fact): OnlineCheck {
  return { facts: all(fact), transaction: null }
}

async function checkTransaction(rpc: Rpc, question: AnchorQuestion) {
  const { tx } = question.anchor
  if (typeof tx !== 'string' || !isTransactionId(tx)) return notFound('anchor.tx is not a transaction')
  const answer = await askTransaction(rpc, tx)
  if ('unavailable' in answer) return nothing(unavailable(answer.unavailable))
  if (!answer.found) return notFound('the node knows no such transaction')
  return { facts: anchorFacts(question, answer.found), transaction: answer.found }
}

/** CAIP-2: a chain of this family is named by the first 32 characters of its genesis hash. */
async function wrongChain(rpc: Rpc, { chain }: JsonObject): Promise<string | null> {
  const answer = await askGenesisHash(rpc)
  if ('unavailable' in answer) return answer.unavailable
  return chain === `solana:${answer.found?.slice(0, 32)}` ? null : 'the node is of another chain than the anchor'
}

function notFound(why: string): OnlineCheck {
  const facts = { ...all(unavailable('there is no transaction to look at')), anchor_tx_succeeded: failed(why) }
  return { facts, transaction: null }
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

interface AnchorQuestion<Anchor = JsonObject> {
  anchor: Anchor
  version: BundleParts['version']
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

/**
 * Oracle-era anchors name the account that was written to, but no signer and no payload to compare. A statement is never
 * published that way: beside one, such an anchor is somebody's transaction and nothing more.
 */
function ofOracle({ anchor, version }: AnchorQuestion): Fact {
  if (version === 2) return failed('an anchor of the oracle era publishes no statement')
  if (!isVersion(anchor, 1)) return failed('an anchor of the oracle era has the envelope_version 1')
  return notChecked('an anchor of the oracle era says nothing of it')
}

function signerMatches(question: AnchorQuestion, { signers }: AnchorTransaction): Fact {
  const { anchor, pinnedSigners } = question
  if (anchor.type === 'oracle_v2') return ofOracle(question)
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
function payloadMatches(question: AnchorQuestion, { instructions }: AnchorTransaction): Fact {
  const { anchor, envelope } = question
  if (anchor.type === 'oracle_v2') return ofOracle(question)
  if (!envelope) return failed('the bundle has no statement that this anchor could publish')
  const memo = anchorMemo(anchorPayload(envelope))
  const isPublished = instructions.some(
    ({ program, data }) => MEMO_PROGRAMS.includes(program) && equalBytes(data, memo),
  )
  if (!isPublished) return failed('no memo of the transaction is the payload of this statement')
  if (!isCanonically(anchor.payload, memo)) return failed('anchor.payload is not the payload of this statement')
  if (!isVersion(anchor, 2)) return failed('the anchor of a statement has the envelope_version 2')
  const { statement_digest, body } = envelope
  const isNamed = anchor.statement_digest === statement_digest && anchor.snapshot_id === body.snapshot_id
  return passedUnless(isNamed ? null : 'the anchor names another statement')
}

function isVersion({ envelope_version = null }: JsonObject, version: 1 | 2): boolean {
  return envelope_version === null || envelope_version === version
}

function isCanonically(value: Json | undefined, bytes: Uint8Array): boolean {
  try {
    return value !== undefined && equalBytes(canonicalBytes(value), bytes)
  } catch {
    return false
  }
}

/** Where the transaction is, when it was taken, and what it cost. */
function slotMatches(anchor: JsonObject, { slot, blockTime, feeLamports }: AnchorTransaction): Fact {
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
function finalized({ commitment = null, finalized = null }: JsonObject, { isFinal }: AnchorTransaction): Fact {
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
