// Bundles with an anchor in a memo.

import { ANCHORED, anchored, anchorOf, GIVEN, memo, payloadOf, payloadText, plain, SILENT } from './anchor-parts.ts'
import { bundleV1, changed, envelopeOf } from './bundles.ts'
import { type Case, type Facts, OF_V1, PINNED } from './case.ts'
import { base58, canonical, type Json } from './formats.ts'
import { OTHER_PUBLICATION_KEY, PUBLICATION_KEY, STRANGER_KEY } from './keys.ts'
import {
  BLOCK_TIME,
  CHAIN,
  COMPUTE_BUDGET,
  known,
  MEMO,
  SLOT,
  type TransactionOrder,
  transactionOf,
  young,
} from './transactions.ts'

const envelope = envelopeOf()

/** A bundle of its own, with the transaction that its anchor names. */
function published(name: string, what: string, order: TransactionOrder, expect: Facts = {}): Case {
  const transaction = transactionOf(order)
  const rpc = known(transaction)
  return {
    name: `anchor-${name}`,
    what,
    document: anchored(transaction),
    given: GIVEN,
    rpc,
    expect: { ...ANCHORED, ...expect },
  }
}

const bundle = anchored(plain)

/** The plain anchor with a value changed, and the right node. */
function anchor(name: string, what: string, path: string, value: Json, expect: Facts): Case {
  const document = changed(bundle, `anchor.${path}`, value)
  return { name: `anchor-${name}`, what, document, given: GIVEN, rpc: known(plain), expect: { ...ANCHORED, ...expect } }
}

const ORACLE_ANCHOR = {
  type: 'oracle_v2',
  chain: CHAIN,
  tx: plain.id,
  slot: SLOT,
  account: 'EWawNEy7KU8VmH5b2W9oQuieq64djdFYBtPDWm8BHDBY',
  envelope_version: 1,
}
const NO_TX: Facts = { ...SILENT, anchor_tx_succeeded: 'failed' }
const NOT_PUBLISHED: Facts = { anchor_payload_matches: 'failed' }
const outer = transactionOf({
  instructions: [{ program: COMPUTE_BUDGET, data: Uint8Array.of(2, 9, 0, 0, 0) }, memo('outer')],
})
const innerMemo = { programIdIndex: 2, accounts: [0], data: base58(Buffer.from(payloadText)), stackHeight: 2 }

export const ANCHORS: Case[] = [
  published('memo', 'a memo transaction', { instructions: [memo()] }),
  published('memo-v1', 'the first memo program', { instructions: [memo(payloadText, MEMO.v1)] }),
  published('memo-v4', 'the fourth memo program, in a version-0 transaction', {
    instructions: [memo(payloadText, MEMO.v4)],
    version: 0,
  }),
  published('among-others', 'among other instructions and memos', {
    instructions: [
      { program: COMPUTE_BUDGET, data: Uint8Array.of(3, 1, 0, 0, 0, 0, 0, 0, 0) },
      memo('hello'),
      memo(),
      memo('bye'),
    ],
  }),
  published('fee-paid-by-other', 'another key pays the fee, the publication key signs too', {
    instructions: [memo()],
    signers: [STRANGER_KEY, PUBLICATION_KEY],
  }),
  published(
    'memo-of-other',
    'the memo of another statement',
    { instructions: [memo(canonical({ ...payloadOf(envelope), seq: 2 }))] },
    NOT_PUBLISHED,
  ),
  published(
    'memo-with-more',
    'the payload and a line break',
    { instructions: [memo(`${payloadText}\n`)] },
    NOT_PUBLISHED,
  ),
  published(
    'memo-not-canonical',
    'the payload in another order',
    { instructions: [memo(JSON.stringify(payloadOf(envelope)))] },
    NOT_PUBLISHED,
  ),
  published(
    'memo-in-two',
    'the payload in two memos',
    { instructions: [memo(payloadText.slice(0, 99)), memo(payloadText.slice(99))] },
    NOT_PUBLISHED,
  ),
  published(
    'memo-of-other-program',
    'the payload given to another program',
    { instructions: [memo(payloadText, COMPUTE_BUDGET)] },
    NOT_PUBLISHED,
  ),
  published(
    'no-memo',
    'a transaction without memo',
    { instructions: [{ program: COMPUTE_BUDGET, data: Uint8Array.of(2, 1, 0, 0, 0) }] },
    NOT_PUBLISHED,
  ),
  published(
    'signed-by-other',
    'signed by another key than anchor.signer',
    { instructions: [memo()], signers: [OTHER_PUBLICATION_KEY] },
    { anchor_signer_matches: 'failed' },
  ),
  {
    name: 'anchor-not-pinned',
    of: 'anchor-memo',
    what: 'no publication key is pinned',
    given: PINNED,
    rpc: known(plain),
    expect: ANCHORED,
  },
  {
    name: 'anchor-other-pinned',
    of: 'anchor-memo',
    what: 'another publication key is pinned',
    given: { ...PINNED, pinned_signers: [OTHER_PUBLICATION_KEY.base58] },
    rpc: known(plain),
    expect: { ...ANCHORED, anchor_signer_matches: 'failed' },
  },
  { name: 'anchor-offline', of: 'anchor-memo', what: 'no node is given', given: PINNED, expect: {} },
  anchor('slot-other', 'another slot', 'slot', SLOT + 1, { anchor_slot_matches: 'failed' }),
  anchor('slot-text', 'the slot in quotes', 'slot', String(SLOT), { anchor_slot_matches: 'failed' }),
  anchor('slot-null', 'no slot', 'slot', null, { anchor_slot_matches: 'not_checked' }),
  anchor('time-other', 'another block time', 'block_time', BLOCK_TIME + 1, { anchor_slot_matches: 'failed' }),
  anchor('time-null', 'no block time', 'block_time', null, {}),
  anchor('signer-other', 'another signer', 'signer', OTHER_PUBLICATION_KEY.base58, { anchor_signer_matches: 'failed' }),
  anchor('signer-list', 'a list of signers', 'signer', [PUBLICATION_KEY.base58], { anchor_signer_matches: 'failed' }),
  anchor('payload-other', 'another payload beside the anchor', 'payload.seq', 2, NOT_PUBLISHED),
  anchor('payload-null', 'no payload beside the anchor', 'payload', null, NOT_PUBLISHED),
  anchor('digest-other', 'the digest of another statement', 'statement_digest', '0f'.repeat(32), NOT_PUBLISHED),
  anchor('snapshot-other', 'another snapshot', 'snapshot_id', '0f'.repeat(32), NOT_PUBLISHED),
  anchor('version-other', 'the envelope_version of the oracle era', 'envelope_version', 1, NOT_PUBLISHED),
  anchor('fee-other', 'another fee', 'fee_lamports', 5001, { anchor_slot_matches: 'failed' }),
  anchor('commitment-other', 'final, and only confirmed', 'commitment', 'confirmed', { anchor_finalized: 'failed' }),
  anchor('finalized-other', 'finalized, and not final', 'finalized', false, { anchor_finalized: 'failed' }),
  anchor('tx-garbage', 'no transaction signature', 'tx', 'not base58!', NO_TX),
  anchor('tx-number', 'a number as transaction', 'tx', 7, NO_TX),
  { ...anchor('type-unknown', 'an anchor of a future type', 'type', 'chain_memo_v9', {}), expect: {} },
  {
    ...anchor(
      'chain-other',
      'an anchor on another chain than the node',
      'chain',
      'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
      {},
    ),
    expect: { ...SILENT, registry_matches: 'unavailable' },
  },
  {
    name: 'anchor-oracle',
    what: 'an anchor of the oracle era',
    document: changed(bundleV1(), 'anchor', ORACLE_ANCHOR),
    given: GIVEN,
    rpc: known(plain),
    expect: { ...OF_V1, ...ANCHORED, anchor_signer_matches: 'not_checked', anchor_payload_matches: 'not_checked' },
  },
  {
    name: 'anchor-oracle-of-statement',
    what: 'an anchor of the oracle era beside a statement',
    document: changed(bundle, 'anchor', ORACLE_ANCHOR),
    given: GIVEN,
    rpc: known(plain),
    expect: { ...ANCHORED, anchor_signer_matches: 'failed', anchor_payload_matches: 'failed' },
  },
  {
    name: 'anchor-of-v1',
    what: 'a memo anchor beside a bundle that has no statement',
    document: changed(bundleV1(), 'anchor', anchorOf(plain.id)),
    given: GIVEN,
    rpc: known(plain),
    expect: { ...OF_V1, ...ANCHORED, anchor_payload_matches: 'failed' },
  },
  {
    name: 'anchor-young',
    what: 'confirmed, not final, and not claimed to be',
    document: changed(changed(bundle, 'anchor.finalized', false), 'anchor.commitment', 'confirmed'),
    given: GIVEN,
    rpc: young(plain),
    expect: { ...ANCHORED, anchor_finalized: 'not_checked' },
  },
  {
    name: 'anchor-inner-memo',
    what: 'the payload only in an inner instruction',
    document: anchored(outer),
    given: GIVEN,
    rpc: known(outer, {}, { innerInstructions: [{ index: 0, instructions: [innerMemo] }] }),
    expect: { ...ANCHORED, ...NOT_PUBLISHED },
  },
]
