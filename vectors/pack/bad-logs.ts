// Bundles whose proof of a log is wrong, and nodes that do not confirm its anchor.

import { GIVEN, memo } from './anchor-parts.ts'
import { bundleV1, changed } from './bundles.ts'
import { type Case, OF_V1 } from './case.ts'
import { OTHER_PUBLICATION_KEY } from './keys.ts'
import { cosignedBy, headOf, type NoteKey, noteKey, noteOf, pathOf, proofText, rootOf, signedBy } from './log.ts'
import {
  anchor,
  BROKEN,
  COSIGNED_AT,
  checkpoint,
  cosigned,
  ENTRIES,
  entriesOf,
  HEAD,
  IMPOSTOR,
  INDEX,
  LOG,
  LOG_ANCHOR,
  LOG_NODE,
  LOG_PASSED,
  log,
  NOT_COSIGNED,
  NOT_INCLUDED,
  node,
  ORIGIN,
  PATH,
  POLICY,
  PROOF,
  PROVEN,
  payloadOf,
  proof,
  published,
  W1,
  W2,
  WHOLE,
  WITH_POLICY,
  whole,
} from './log-parts.ts'
import { BLOCK_TIME, genesis, known, SLOT, transactionAnswer, transactionOf } from './transactions.ts'

const otherHead = headOf(ORIGIN, entriesOf(8))
const otherLog = noteKey('other.example/log', 'log')
const otherOrigin = headOf(otherLog.name, ENTRIES)
const wrongRoot = headOf(ORIGIN, entriesOf(7, 5))
const failure = { InstructionError: [0, { Custom: 6 }] }
const silentMemo = transactionOf({ instructions: [memo('something else')] })

export const BAD_LOGS: Case[] = [
  proof('other-entry', 'the proof of another entry', proofText(5, pathOf(5, ENTRIES), whole(HEAD)), NOT_INCLUDED),
  proof('other-index', 'another index', PROOF.replace('index 4', 'index 5'), NOT_INCLUDED),
  proof('index-too-large', 'an index outside of the log', PROOF.replace('index 4', 'index 7'), NOT_INCLUDED),
  proof(
    'hash-changed',
    'a hash of the proof differs',
    proofText(INDEX, [...PATH.slice(1), rootOf([])], whole(HEAD)),
    NOT_INCLUDED,
  ),
  proof('hash-missing', 'a hash of the proof is missing', proofText(INDEX, PATH.slice(1), whole(HEAD)), NOT_INCLUDED),
  proof('hash-added', 'a hash too many', proofText(INDEX, [...PATH, rootOf([])], whole(HEAD)), NOT_INCLUDED),
  checkpoint('other-root', 'the root of a log without the statement', whole(wrongRoot), NOT_INCLUDED),
  checkpoint('other-size', 'another size beside the root', whole(HEAD.replace('\n7\n', '\n9\n')), NOT_INCLUDED),
  checkpoint(
    'impostor',
    'signed by another key of the same name',
    noteOf(HEAD, signedBy(IMPOSTOR, HEAD), ...cosigned(HEAD)),
    NOT_INCLUDED,
  ),
  checkpoint('not-signed', 'not signed by the log', noteOf(HEAD, ...cosigned(HEAD)), NOT_INCLUDED),
  checkpoint(
    'other-log',
    'the checkpoint of another log, signed by it',
    whole(otherOrigin).replace(signedBy(LOG, otherOrigin), signedBy(otherLog, otherOrigin)),
    NOT_INCLUDED,
  ),
  checkpoint('other-origin', 'signed by the log under the name of another', whole(otherOrigin), NOT_INCLUDED),
  checkpoint(
    'signature-of-other',
    'the signature of another checkpoint',
    noteOf(HEAD, signedBy(LOG, otherHead), ...cosigned(HEAD)),
    NOT_INCLUDED,
  ),
  checkpoint(
    'one-witness',
    'one witness where two are needed',
    noteOf(HEAD, signedBy(LOG, HEAD), cosignedBy(W1, HEAD, COSIGNED_AT)),
    NOT_COSIGNED,
  ),
  checkpoint(
    'witness-twice',
    'one witness twice',
    noteOf(HEAD, signedBy(LOG, HEAD), cosignedBy(W1, HEAD, COSIGNED_AT), cosignedBy(W1, HEAD, COSIGNED_AT + 1)),
    NOT_COSIGNED,
  ),
  checkpoint(
    'witness-of-other',
    'witnesses of another checkpoint',
    noteOf(HEAD, signedBy(LOG, HEAD), ...cosigned(otherHead)),
    NOT_COSIGNED,
  ),
  checkpoint(
    'witness-without-time',
    'witnesses that signed as a log does',
    noteOf(HEAD, signedBy(LOG, HEAD), signedBy(W1, HEAD), signedBy(W2, HEAD)),
    NOT_COSIGNED,
  ),
  checkpoint(
    'witness-time-changed',
    'a time other than the signed one',
    noteOf(HEAD, signedBy(LOG, HEAD), cosignedBy(W1, HEAD, COSIGNED_AT), anotherTime(W2)),
    NOT_COSIGNED,
  ),
  log('text', 'log is a string', PROOF, BROKEN),
  log('list', 'log is a list', [PROVEN], BROKEN),
  log('no-proof', 'no proof in the log', { anchor: LOG_ANCHOR }, BROKEN),
  proof('proof-number', 'a number as proof', 7, BROKEN),
  proof('empty', 'an empty proof', '', BROKEN),
  proof('other-header', 'a proof of a future version', PROOF.replace('@v1', '@v2'), BROKEN),
  proof('line-ends', 'lines that end in CR LF', PROOF.replaceAll('\n', '\r\n'), BROKEN),
  proof('cut', 'cut off within the last signature', PROOF.slice(0, -9), BROKEN),
  proof('no-signature', 'a checkpoint without signatures', proofText(INDEX, PATH, HEAD), BROKEN),
  {
    name: 'log-of-v1',
    what: 'beside a bundle that has no statement',
    document: { ...bundleV1(), log: PROVEN },
    given: { ...GIVEN, policy: POLICY },
    expect: { ...OF_V1, ...NOT_INCLUDED },
  },
  log(
    'anchor-text',
    'the anchor is a string',
    { proof: PROOF, anchor: 'published' },
    { ...LOG_PASSED, log_anchored: 'failed' },
  ),
  log(
    'anchor-payload-offline',
    'the payload of another checkpoint, and no node',
    changed(PROVEN, 'anchor.payload', payloadOf(8, rootOf(entriesOf(8)))),
    { ...LOG_PASSED, log_anchored: 'failed' },
  ),
  anchor('payload-more', 'a field too many in the payload', 'payload.x', 1, 'failed'),
  anchor('payload-null', 'no payload', 'payload', null, 'failed'),
  anchor('signer-other', 'another signer', 'signer', OTHER_PUBLICATION_KEY.base58, 'failed'),
  anchor('slot-other', 'another slot', 'slot', SLOT + 1, 'failed'),
  anchor('time-other', 'another block time', 'block_time', BLOCK_TIME + 1, 'failed'),
  anchor('commitment-other', 'final, and only confirmed', 'commitment', 'confirmed', 'failed'),
  anchor('tx-garbage', 'no transaction signature', 'tx', 'not base58!', 'failed'),
  anchor(
    'chain-other',
    'on another chain than the node',
    'chain',
    'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    'unavailable',
  ),
  {
    name: 'log-anchor-no-memo',
    what: 'a transaction with another memo',
    document: changed(WHOLE, 'log.anchor.tx', silentMemo.id),
    given: WITH_POLICY,
    rpc: known(silentMemo),
    expect: { ...LOG_PASSED, log_anchored: 'failed' },
  },
  {
    name: 'log-anchor-not-pinned',
    of: 'log',
    what: 'another publication key is pinned',
    given: { ...WITH_POLICY, pinned_signers: [OTHER_PUBLICATION_KEY.base58] },
    rpc: LOG_NODE,
    expect: { ...LOG_PASSED, log_anchored: 'failed' },
  },
  node(
    'tx-failed',
    'the transaction failed',
    known(published, {}, { err: failure, status: { Err: failure } }),
    'failed',
  ),
  node(
    'not-found',
    'the node knows no such transaction',
    [genesis(), ...(['finalized', 'confirmed'] as const).map((level) => transactionAnswer(published.id, level, null))],
    'failed',
  ),
  node('down', 'no answer about the transaction', [genesis()], 'unavailable'),
]

/** A line of this witness with the time moved by a second. */
function anotherTime(witness: NoteKey): string {
  const [dash, name, encoded] = cosignedBy(witness, HEAD, COSIGNED_AT).trimEnd().split(' ')
  const bytes = Buffer.from(encoded as string, 'base64')
  bytes.writeBigUInt64BE(BigInt(COSIGNED_AT + 1), 4)
  return `${dash} ${name} ${bytes.toString('base64')}\n`
}
