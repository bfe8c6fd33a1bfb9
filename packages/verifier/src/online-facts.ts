// The facts that need a node of the chain.
//
// `failed`: the node's answer contradicts the bundle, or the node does not know the transaction. An anchor that cannot
// be found must not count as unchecked, although a node that prunes old blocks gives the same answer. `unavailable`:
// there was no usable answer, because the node is down, answers nonsense, is on another chain, or sent bytes that are
// not the requested transaction. `not_checked`: there was nothing to query.

import { anchorMemo, anchorPayload } from '@svc/protocol/anchor'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import {
  finalized,
  findTransaction,
  hasCanonicalBytes,
  hasMemo,
  signerMatches,
  slotMatches,
  txSucceeded,
  wrongChain,
} from './anchor-transaction.ts'
import { type Fact, failed, notChecked, type OnlineFacts, passedUnless, unavailable } from './facts.ts'
import type { BundleParts } from './read-bundle.ts'
import { registryMatches } from './registry-fact.ts'
import type { AnchorTransaction, Rpc } from './rpc.ts'
import type { JsonObject } from './untrusted.ts'

const ANCHOR_TYPES = ['chain_sas_v1', 'chain_memo_v2', 'oracle_v2']

export interface OnlineCheck {
  facts: OnlineFacts
  /** The transaction that the anchor was compared with, or null. */
  transaction: AnchorTransaction | null
}

export async function checkOnline(
  rpc: Rpc | undefined,
  { anchor, ...question }: AnchorQuestion<JsonObject | null>,
): Promise<OnlineCheck> {
  if (!anchor) return nothing(notChecked('the bundle has no anchor'))
  if (!rpc) return nothing(notChecked('no node was asked'))
  if (!ANCHOR_TYPES.includes(anchor.type as string)) return nothing(notChecked('the type of the anchor is unknown'))
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
  const answer = await findTransaction(rpc, question.anchor)
  if ('unavailable' in answer) return nothing(unavailable(answer.unavailable))
  if ('notFound' in answer) return notFound(answer.notFound)
  return { facts: anchorFacts(question, answer.found), transaction: answer.found }
}

function notFound(why: string): OnlineCheck {
  const facts = { ...all(unavailable('there is no transaction to check')), anchor_tx_succeeded: failed(why) }
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
  /** Null if the bundle has no statement, or it is malformed. */
  envelope: EvidenceEnvelope | null
  /** Publication keys in base58 from a source other than the bundle. */
  pinnedSigners: readonly string[]
}

function anchorFacts(question: AnchorQuestion, transaction: AnchorTransaction): AnchorFacts {
  const { anchor, pinnedSigners } = question
  const isOracle = anchor.type === 'oracle_v2'
  return {
    anchor_tx_succeeded: txSucceeded(transaction),
    anchor_signer_matches: isOracle ? ofOracle(question) : signerMatches(anchor, transaction, pinnedSigners),
    anchor_payload_matches: isOracle ? ofOracle(question) : payloadMatches(question, transaction),
    anchor_slot_matches: slotMatches(anchor, transaction),
    anchor_finalized: finalized(anchor, transaction),
  }
}

/**
 * Oracle-era anchors name the written account, but neither a signer nor a payload to compare. Statements are never
 * published that way, so such an anchor proves nothing about a statement.
 */
function ofOracle({ anchor, version }: AnchorQuestion): Fact {
  if (version === 2) return failed('an anchor of the oracle era publishes no statement')
  if (!isVersion(anchor, 1)) return failed('an anchor of the oracle era must have the envelope_version 1')
  return notChecked('an anchor of the oracle era does not contain this')
}

function payloadMatches({ anchor, envelope }: AnchorQuestion, transaction: AnchorTransaction): Fact {
  if (!envelope) return failed('the bundle has no statement that this anchor can publish')
  const memo = anchorMemo(anchorPayload(envelope))
  if (!hasMemo(transaction, memo)) return failed('no memo of the transaction is the payload of this statement')
  if (!hasCanonicalBytes(anchor.payload, memo)) return failed('anchor.payload is not the payload of this statement')
  if (!isVersion(anchor, 2)) return failed('the anchor of a statement must have the envelope_version 2')
  const { statement_digest, body } = envelope
  const isNamed = anchor.statement_digest === statement_digest && anchor.snapshot_id === body.snapshot_id
  return passedUnless(isNamed ? null : 'the anchor names another statement')
}

function isVersion({ envelope_version = null }: JsonObject, version: 1 | 2): boolean {
  return envelope_version === null || envelope_version === version
}
