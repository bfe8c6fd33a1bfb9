// Shared by the cases about anchors.

import { bundleOf, envelopeOf } from './bundles.ts'
import { type Facts, type GivenInPack, PINNED } from './case.ts'
import { canonical, type Json, type JsonObject } from './formats.ts'
import { PUBLICATION_KEY } from './keys.ts'
import {
  BLOCK_TIME,
  CHAIN,
  type Instruction,
  MEMO,
  type SignedTransaction,
  SLOT,
  transactionOf,
} from './transactions.ts'

export function payloadOf(envelope: JsonObject): JsonObject {
  const body = envelope.body as JsonObject
  return {
    s: 'svc/anchor/v2',
    pid: body.proof_id as Json,
    sid: body.snapshot_id as Json,
    dg: envelope.statement_digest as Json,
    root: String(body.merkle_root).replace('sha256:', ''),
    n: body.file_count as Json,
    seq: body.sequence as Json,
    t: body.issued_at_unix as Json,
    k: body.issuer_key_id as Json,
  }
}

const envelope = envelopeOf()
export const payloadText = canonical(payloadOf(envelope))

export function memo(text = payloadText, program = MEMO.v3): Instruction {
  return { program, data: Buffer.from(text) }
}

export function anchorOf(tx: string): JsonObject {
  return {
    type: 'chain_memo_v2',
    chain: CHAIN,
    tx,
    slot: SLOT,
    block_time: BLOCK_TIME,
    signer: PUBLICATION_KEY.base58,
    fee_lamports: 5000,
    commitment: 'finalized',
    finalized: true,
    statement_digest: envelope.statement_digest as Json,
    snapshot_id: (envelope.body as JsonObject).snapshot_id as Json,
    payload: payloadOf(envelope),
    envelope_version: 2,
  }
}

export const anchored = (transaction: SignedTransaction) => bundleOf({ anchor: anchorOf(transaction.id) })

export const ANCHORED: Facts = {
  anchor_tx_succeeded: 'passed',
  anchor_signer_matches: 'passed',
  anchor_payload_matches: 'passed',
  anchor_slot_matches: 'passed',
  anchor_finalized: 'passed',
}
export const SILENT: Facts = {
  anchor_tx_succeeded: 'unavailable',
  anchor_signer_matches: 'unavailable',
  anchor_payload_matches: 'unavailable',
  anchor_slot_matches: 'unavailable',
  anchor_finalized: 'unavailable',
}
export const GIVEN: GivenInPack = { ...PINNED, pinned_signers: [PUBLICATION_KEY.base58] }

/** The transaction of the plain anchored bundle, `anchor-memo`. */
export const plain = transactionOf({ instructions: [memo()] })
