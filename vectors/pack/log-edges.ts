// Proofs of a log at the edge of a rule.

import { bundleOf, changed } from './bundles.ts'
import { type Case, type Facts, type GivenInPack, OF_V1, PINNED, UNSIGNED } from './case.ts'
import type { Json, JsonObject } from './formats.ts'
import { listedKey, STATEMENT_KEY, signingKeys } from './keys.ts'
import { cosignedBy, headOf, type NoteKey, noteKey, noteOf, signedBy } from './log.ts'
import {
  BROKEN,
  COSIGNED_AT,
  checkpoint,
  cosigned,
  entriesOf,
  HEAD,
  LOG,
  NOT_COSIGNED,
  NOT_INCLUDED,
  OFFLINE,
  OPEN,
  ORIGIN,
  POLICY,
  PROOF,
  W1,
  W2,
  WITNESSES,
} from './log-parts.ts'

const otherHead = headOf(ORIGIN, entriesOf(8))
const otherLog = noteKey('other.example/log', 'log')
const W3 = WITNESSES[2] as NoteKey

function log(name: string, what: string, document: JsonObject, given: GivenInPack, expect: Facts): Case {
  return { name: `log-edge-${name}`, what, document, given, expect }
}

const withLog = (value: Json): JsonObject => ({ ...bundleOf(), log: value })
const proven = withLog({ proof: PROOF, anchor: null })
const INCLUDED: Facts = { ...OPEN, log_included: 'passed' }
const listOf = (...logs: NoteKey[]): GivenInPack => {
  const list = signingKeys(listedKey(STATEMENT_KEY, 'evidence-envelope'))
  return { pinned_keys: { ...list, logs: logs.map(({ vkey }) => ({ vkey })) } }
}

export const LOG_EDGES: Case[] = [
  checkpoint(
    'edge-bad-beside-good',
    'a good and a bad signature of the log',
    noteOf(HEAD, signedBy(LOG, HEAD), signedBy(LOG, otherHead), ...cosigned(HEAD)),
    NOT_INCLUDED,
  ),
  checkpoint(
    'edge-bad-before-good',
    'a bad and a good signature of the log',
    noteOf(HEAD, signedBy(LOG, otherHead), signedBy(LOG, HEAD), ...cosigned(HEAD)),
    NOT_INCLUDED,
  ),
  checkpoint(
    'edge-signed-twice',
    'the same signature of the log twice',
    noteOf(HEAD, signedBy(LOG, HEAD), signedBy(LOG, HEAD), ...cosigned(HEAD)),
    OFFLINE,
  ),
  checkpoint(
    'edge-witness-good-and-bad',
    'a witness with a bad and a good cosignature, which vouches',
    noteOf(
      HEAD,
      signedBy(LOG, HEAD),
      cosignedBy(W1, HEAD, COSIGNED_AT),
      cosignedBy(W2, otherHead, COSIGNED_AT),
      cosignedBy(W2, HEAD, COSIGNED_AT + 1),
    ),
    OFFLINE,
  ),
  checkpoint(
    'edge-witness-twice',
    'two cosignatures of one witness, which count once',
    noteOf(
      HEAD,
      signedBy(LOG, HEAD),
      cosignedBy(W1, HEAD, COSIGNED_AT),
      cosignedBy(W1, HEAD, COSIGNED_AT + 1),
      cosignedBy(W2, otherHead, COSIGNED_AT),
    ),
    NOT_COSIGNED,
  ),
  checkpoint(
    'edge-cosigned-only',
    'not signed by the log, and cosigned by all witnesses',
    noteOf(HEAD, ...cosigned(HEAD), cosignedBy(W3, HEAD, COSIGNED_AT)),
    NOT_INCLUDED,
  ),
  log(
    'malformed-not-asked',
    'an unreadable proof, and neither key nor policy',
    withLog({ proof: 'x' }),
    PINNED,
    BROKEN,
  ),
  log(
    'other-entry-not-asked',
    'the proof of another entry, and neither key nor policy',
    withLog({ proof: PROOF.replace('index 4', 'index 5'), anchor: null }),
    PINNED,
    { ...OPEN, log_included: 'failed' },
  ),
  log(
    'claimed-digest',
    'a statement that was changed under its digest: the entry is the digest as claimed',
    changed(proven, 'envelope.body.nonce', '0f'.repeat(16)),
    { ...PINNED, policy: POLICY },
    { ...OFFLINE, statement_digest_matches: 'failed', ...UNSIGNED },
  ),
  log(
    'malformed-statement',
    'a statement that is not well formed under its digest',
    changed(proven, 'envelope.body.nonce', null),
    { ...PINNED, policy: POLICY },
    { ...NOT_INCLUDED, statement_digest_matches: 'failed', envelope_binds_commitment: 'failed', ...UNSIGNED },
  ),
  log('null', 'null as log, and a policy', withLog(null), { ...PINNED, policy: POLICY }, OPEN),
  log('listed', 'the key of the log is in the pinned list', proven, listOf(LOG), INCLUDED),
  log('listed-other', 'another key of a log is in the pinned list', proven, listOf(otherLog), {
    ...OPEN,
    log_included: 'failed',
  }),
  log(
    'listed-and-given',
    'the key of the log is in the pinned list, and another one is given: only that counts',
    proven,
    { ...listOf(LOG), log_keys: [otherLog.vkey] },
    { ...OPEN, log_included: 'failed' },
  ),
  log(
    'listed-and-witness',
    'the key of the log is in the pinned list, and a policy names only a witness',
    proven,
    { ...listOf(LOG), policy: `witness w1 ${W1.vkey}\nquorum w1\n` },
    { ...INCLUDED, log_cosigned: 'passed' },
  ),
  {
    name: 'log-edge-missing-listed',
    of: 'v1',
    what: 'no proof, and the key of a log in the pinned list alone: there are no facts about it',
    given: {
      pinned_keys: {
        ...(signingKeys(listedKey(STATEMENT_KEY, 'attestation')) as JsonObject),
        logs: [{ vkey: LOG.vkey }],
      },
    },
    expect: OF_V1,
  },
]
