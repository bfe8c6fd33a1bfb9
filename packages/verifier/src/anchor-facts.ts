import { anchorMemo, anchorPayload, MEMO_PROGRAMS } from '@svc/protocol/anchor'
import { equalBytes } from '@svc/protocol/bytes'
import { canonicalBytes, type Json } from '@svc/protocol/canonical'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { AnchorTransaction } from './anchor-transaction.ts'
import { type Fact, failed, notChecked, type OnlineFacts, PASSED, passedUnless } from './facts.ts'
import { printable } from './printable.ts'
import type { JsonObject } from './strict.ts'

export type AnchorFacts = Omit<OnlineFacts, 'registry_matches'>

export interface AnchorQuestion {
  anchor: JsonObject
  /** Null when the bundle has none, or one without form. */
  envelope: EvidenceEnvelope | null
  /** Publication keys, base58, that the verifier got from somewhere else than the bundle. */
  pinnedSigners: readonly string[]
}

export function anchorFacts(question: AnchorQuestion, transaction: AnchorTransaction): AnchorFacts {
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

/** Historical anchors name an account that was written to, no signer, and no payload that could be compared. */
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
 * One memo of the message itself must be the payload, byte for byte. Other memos beside it say nothing about it. A memo
 * that a program wrote in turn does not count: it need not be the signer's word.
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

/** An anchor that is young is not wrong: only one that was said to be final, and is not, fails. */
function finalized(anchor: JsonObject, { isFinal }: AnchorTransaction): Fact {
  if (isFinal) return PASSED
  if (anchor.finalized === true) return failed('the anchor says it is final, the node that it is not')
  return notChecked('confirmed, and not final yet: ask again')
}
