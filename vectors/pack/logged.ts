import { changed, redactedOf } from './bundles.ts'
import { type Case, PINNED } from './case.ts'
import { cosignedBy, headOf, type NoteKey, noteKey, noteOf, pathOf, proofText, signedBy } from './log.ts'
import {
  COSIGNED_AT,
  checkpoint,
  cosigned,
  digest,
  ENTRIES,
  entriesOf,
  given,
  HEAD,
  LOG,
  LOG_NODE,
  LOG_PASSED,
  node,
  OFFLINE,
  OPEN,
  ORIGIN,
  POLICY,
  PROOF,
  PROVEN,
  proof,
  published,
  W1,
  WHOLE,
  WITH_POLICY,
  WITNESSES,
  whole,
} from './log-parts.ts'
import { young } from './transactions.ts'

const large = entriesOf(300, 257)
const otherHead = headOf(ORIGIN, entriesOf(8))
const otherLog = noteKey('other.example/log', 'log')
const extended = headOf(ORIGIN, ENTRIES, 'an extension')

export const LOGGED: Case[] = [
  {
    name: 'log',
    what: 'in a log, with two witnesses and an anchor',
    document: WHOLE,
    given: WITH_POLICY,
    rpc: LOG_NODE,
    expect: LOG_PASSED,
  },
  given('offline', 'no node is given', { policy: POLICY }, OFFLINE),
  given('unknown', 'no key of a log is given, and no policy', {}, OPEN),
  given(
    'key',
    'the key of the log is given, and no policy',
    { log_keys: [LOG.vkey] },
    { ...OPEN, log_included: 'passed' },
  ),
  given(
    'other-keys',
    'the key of another log is given too',
    { log_keys: [otherLog.vkey, LOG.vkey] },
    { ...OPEN, log_included: 'passed' },
  ),
  given(
    'quorum-none',
    'a policy that asks for no witness',
    { policy: `log ${LOG.vkey}\nquorum none\n` },
    { ...OPEN, log_included: 'passed' },
  ),
  given(
    'witnesses-only',
    'a policy that names no log',
    { policy: `witness w1 ${W1.vkey}\nquorum w1\n` },
    { ...OPEN, log_cosigned: 'passed' },
  ),
  {
    name: 'log-missing',
    of: 'v2',
    what: 'no proof, although a policy is given',
    given: { ...PINNED, policy: POLICY },
    expect: OPEN,
  },
  proof('no-anchor', 'a checkpoint that is not anchored', PROOF, OFFLINE),
  proof('only-entry', 'the only entry of a log', proofText(0, [], whole(headOf(ORIGIN, [digest]))), OFFLINE),
  proof('large', 'entry 257 of 300', proofText(257, pathOf(257, large), whole(headOf(ORIGIN, large))), OFFLINE),
  proof(
    'extra',
    'data beside the proof, which is not signed',
    PROOF.replace('\nindex', '\nextra bm90aGluZw==\nindex'),
    OFFLINE,
  ),
  checkpoint('extension', 'a checkpoint with an extension line', whole(extended), OFFLINE),
  checkpoint(
    'other-signatures',
    'signatures of others among those of the policy',
    noteOf(HEAD, signedBy(otherLog, HEAD), ...cosigned(HEAD), signedBy(LOG, HEAD)),
    OFFLINE,
  ),
  checkpoint(
    'bad-cosignature',
    'an invalid third cosignature',
    whole(HEAD) + cosignedBy(WITNESSES[2] as NoteKey, otherHead, COSIGNED_AT),
    OFFLINE,
  ),
  {
    name: 'log-redacted',
    what: 'a redacted bundle',
    document: { ...redactedOf(['readme.txt']), log: PROVEN },
    given: WITH_POLICY,
    rpc: LOG_NODE,
    expect: {
      ...LOG_PASSED,
      inclusion_proven: 'passed',
      merkle_root_matches: 'not_checked',
      envelope_binds_commitment: 'not_checked',
    },
  },
  node('young', 'confirmed, and claimed to be final', young(published), 'failed'),
  {
    name: 'log-anchor-young',
    what: 'confirmed, not final, and not claimed to be',
    document: changed(changed(WHOLE, 'log.anchor.finalized', false), 'log.anchor.commitment', 'confirmed'),
    given: WITH_POLICY,
    rpc: young(published),
    expect: OFFLINE,
  },
]
