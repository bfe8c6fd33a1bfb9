// Changes of keys that contradict each other, or are at the edge of a rule.

import { ANCHORED, anchored, GIVEN, plain } from './anchor-parts.ts'
import { bundleOf, changed, ISSUED_AT, redactedOf } from './bundles.ts'
import { type Case, type Facts, type GivenInPack, PINNED } from './case.ts'
import { isoSeconds, type Json, type JsonObject } from './formats.ts'
import {
  AUDIENCE,
  type Changes,
  carried,
  DAY,
  endorsement,
  GOOD,
  named,
  OLD_PINNED,
  REFUSED,
  revocation,
} from './key-changes.ts'
import {
  keyOf,
  listedKey,
  type PackKey,
  RECOVERY_KEY,
  RETIRED_KEY,
  STATEMENT_KEY,
  STRANGER_KEY,
  signingKeys,
} from './keys.ts'
import { BLOCK_TIME, known } from './transactions.ts'

const ofStatements = (key: PackKey, begin: number) =>
  listedKey(key, 'evidence-envelope', { valid_from: isoSeconds(begin) })
const twoKeys: GivenInPack = {
  pinned_keys: signingKeys(
    ofStatements(RETIRED_KEY, ISSUED_AT - 300 * DAY),
    ofStatements(STATEMENT_KEY, ISSUED_AT - 30 * DAY),
  ),
}
const listed = (list: JsonObject): GivenInPack => ({ pinned_keys: list })
const recovery = named(RECOVERY_KEY)
const both = { pinned_keys: [RETIRED_KEY.hex, STATEMENT_KEY.hex] }
const atHandover = { at: ISSUED_AT - 600 }
/** The recovery key, which is pinned for statements too, and a later key. */
const pinnedRecovery = listed({
  ...signingKeys(ofStatements(RECOVERY_KEY, ISSUED_AT - 300 * DAY), ofStatements(STATEMENT_KEY, ISSUED_AT - 30 * DAY)),
  recovery,
})
const oldWithRecovery = listed({ ...signingKeys(ofStatements(RETIRED_KEY, ISSUED_AT - 300 * DAY)), recovery })

/** Signed by this key, with changes in the bundle. */
function signedBy(key: PackKey, name: string, what: string, changes: Changes, given: GivenInPack, expect: Facts): Case {
  const document = changed(bundleOf({ key }), 'signing_keys', { ...signingKeys(listedKey(key, 'receipt')), ...changes })
  return { name: `keys-${name}`, what, document, given, expect }
}

/** Published, signed by a key with these revocations. */
function published(name: string, what: string, revocations: JsonObject[], given: GivenInPack, expect: Facts): Case {
  const document = changed(anchored(plain), 'signing_keys', { ...signingKeys(), revocations })
  const inNode = { rpc: known(plain), expect: { ...ANCHORED, ...expect } }
  return { name: `keys-${name}`, what, document, given: { ...GIVEN, ...given }, ...inNode }
}

const bySelf = (since: number) => revocation(STATEMENT_KEY, STATEMENT_KEY, since)
const statementWithRecovery = listed({ ...signingKeys(ofStatements(STATEMENT_KEY, ISSUED_AT - 300 * DAY)), recovery })

/** The older of two pinned keys endorses a third, which signed, at a time relative to its own beginning. */
function beforeEndorser(name: string, what: string, seconds: number, expect: Facts): Case {
  const begin = ISSUED_AT - 200 * DAY
  const list = signingKeys(ofStatements(STRANGER_KEY, ISSUED_AT - 300 * DAY), ofStatements(RETIRED_KEY, begin))
  const early = endorsement(RETIRED_KEY, STATEMENT_KEY, { at: begin - seconds })
  return carried(name, what, { endorsements: [early] }, expect, listed(list))
}

const CHAIN = [RETIRED_KEY, ...Array.from({ length: 24 }, (_, i) => keyOf(`successor-${i}`))]
const successors: Changes = {
  endorsements: CHAIN.slice(1).map((key, i) => endorsement(CHAIN[i] as PackKey, key, atHandover)),
  revocations: CHAIN.flatMap((by, i) => CHAIN.slice(0, i).map((key) => revocation(key, by, ISSUED_AT - 40 * DAY))),
}

export const DISPUTED: Case[] = [
  carried(
    'endorsed-with-note',
    'fields beside body and signature, which nobody signed',
    { endorsements: [{ ...GOOD, note: 'received today' }] },
    {},
  ),
  carried('endorsed-repeated', 'the same endorsement twice', { endorsements: [GOOD, GOOD] }, {}),
  carried(
    'endorsed-in-list',
    'the endorsement is in the pinned list, not in the bundle',
    {},
    {},
    listed({ ...signingKeys(ofStatements(RETIRED_KEY, ISSUED_AT - 300 * DAY)), endorsements: [GOOD] }),
  ),
  carried('endorsed-64th', 'the last endorsement that is read', { endorsements: [...nulls(63), GOOD] }, {}),
  carried('endorsed-65th', 'behind more endorsements than are read', { endorsements: [...nulls(64), GOOD] }),
  carried(
    'audience',
    'for the gateway of the pinned keys',
    { endorsements: [GOOD] },
    {},
    { ...OLD_PINNED, audience: AUDIENCE },
  ),
  carried('audience-other', 'for another gateway', { endorsements: [GOOD] }, REFUSED, {
    ...OLD_PINNED,
    audience: 'https://other.example',
  }),
  carried(
    'audience-of-revocation',
    'the revocation is for another gateway',
    { revocations: [bySelf(ISSUED_AT - DAY)] },
    {},
    { ...PINNED, audience: 'https://other.example' },
  ),
  carried(
    'endorsed-for-receipts',
    'the pinned key is for receipts alone, and so is the one that it endorses',
    { endorsements: [GOOD] },
    REFUSED,
    listed(signingKeys(listedKey(RETIRED_KEY, 'receipt'))),
  ),
  carried(
    'endorsed-for-unknown',
    'the pinned key has a use that no verifier knows, and endorses nothing',
    { endorsements: [GOOD] },
    REFUSED,
    listed(signingKeys(listedKey(RETIRED_KEY, 'publication'))),
  ),
  carried(
    'endorsed-after-end',
    'the pinned key has ended, except for a use that no verifier knows',
    { endorsements: [GOOD] },
    REFUSED,
    listed(
      signingKeys(
        listedKey(RETIRED_KEY, 'evidence-envelope', { valid_to: isoSeconds(ISSUED_AT) }),
        listedKey(RETIRED_KEY, 'publication'),
      ),
    ),
  ),
  carried('bad-day', 'the endorsement begins on a day that does not exist', {
    endorsements: [endorsement(RETIRED_KEY, STATEMENT_KEY, { alter: { valid_from: '2026-02-30T00:00:00Z' } })],
  }),
  carried(
    'after-end-of-pin',
    'made within the period of a pinned key that has an end',
    { endorsements: [GOOD] },
    REFUSED,
    listed(signingKeys(listedKey(RETIRED_KEY, 'evidence-envelope', { valid_to: isoSeconds(ISSUED_AT) }))),
  ),
  beforeEndorser('endorser-600', 'endorsed ten minutes before the endorser began', 600, {}),
  beforeEndorser('endorser-601', 'endorsed ten minutes and a second before the endorser began', 601, REFUSED),
  signedBy(
    RETIRED_KEY,
    'handover-600',
    'signed by the older key ten minutes after the newer one began',
    { endorsements: [endorsement(RETIRED_KEY, STATEMENT_KEY, { at: ISSUED_AT - 600 })] },
    OLD_PINNED,
    {},
  ),
  signedBy(
    RETIRED_KEY,
    'handover-601',
    'signed by the older key ten minutes and a second after the newer one began',
    { endorsements: [endorsement(RETIRED_KEY, STATEMENT_KEY, { at: ISSUED_AT - 601 })] },
    OLD_PINNED,
    REFUSED,
  ),
  carried(
    'recovery-endorses-two',
    'the recovery key endorses two keys',
    { endorsements: [endorsement(RECOVERY_KEY, STATEMENT_KEY), endorsement(RECOVERY_KEY, STRANGER_KEY)] },
    {},
    oldWithRecovery,
  ),
  carried(
    'recovery-backdates',
    'the recovery key endorses from a time before it signed',
    { endorsements: [endorsement(RECOVERY_KEY, STATEMENT_KEY, { alter: { issued_at: isoSeconds(ISSUED_AT + DAY) } })] },
    {},
    oldWithRecovery,
  ),
  signedBy(
    RECOVERY_KEY,
    'recovery-endorsed',
    'signed by the recovery key, which the pinned key endorses: it is for changes of keys alone',
    { endorsements: [endorsement(RETIRED_KEY, RECOVERY_KEY)] },
    oldWithRecovery,
    REFUSED,
  ),
  signedBy(
    RECOVERY_KEY,
    'recovery-pinned-ended',
    'signed by the recovery key, which is pinned for statements until it endorsed another',
    { endorsements: [endorsement(RECOVERY_KEY, STRANGER_KEY)] },
    pinnedRecovery,
    REFUSED,
  ),
  signedBy(
    RECOVERY_KEY,
    'recovery-revoked-by-later',
    'signed by the recovery key, which is pinned for statements, and a later key revokes it',
    { revocations: [revocation(RECOVERY_KEY, STATEMENT_KEY, ISSUED_AT - 40 * DAY)] },
    pinnedRecovery,
    {},
  ),
  signedBy(
    RECOVERY_KEY,
    'recovery-revoked-by-itself',
    'signed by the recovery key, which is pinned for statements and revokes itself',
    { revocations: [revocation(RECOVERY_KEY, RECOVERY_KEY, ISSUED_AT - 40 * DAY)] },
    pinnedRecovery,
    REFUSED,
  ),
  signedBy(
    RETIRED_KEY,
    'revoked-by-later-pin',
    'a pinned key that began later revokes the one that signed',
    { revocations: [revocation(RETIRED_KEY, STATEMENT_KEY, ISSUED_AT - 40 * DAY)] },
    twoKeys,
    REFUSED,
  ),
  signedBy(
    STATEMENT_KEY,
    'revoked-by-earlier-pin',
    'a pinned key that began earlier revokes the one that signed, which is not allowed',
    { revocations: [revocation(STATEMENT_KEY, RETIRED_KEY, ISSUED_AT - 20 * DAY)] },
    twoKeys,
    {},
  ),
  signedBy(
    RETIRED_KEY,
    'revoked-by-pin',
    'a pinned key revokes the one that signed, and neither has a beginning',
    { revocations: [revocation(RETIRED_KEY, STATEMENT_KEY, ISSUED_AT - 40 * DAY)] },
    both,
    {},
  ),
  signedBy(
    RETIRED_KEY,
    'revoked-by-endorsed-pin',
    'a pinned key that the one that signed endorsed revokes it, and neither has a beginning',
    {
      endorsements: [endorsement(RETIRED_KEY, STATEMENT_KEY, atHandover)],
      revocations: [revocation(RETIRED_KEY, STATEMENT_KEY, ISSUED_AT - 40 * DAY)],
    },
    both,
    REFUSED,
  ),
  signedBy(
    RETIRED_KEY,
    'revoked-by-middle',
    'the second of three pinned keys that endorse one another revokes the first, and the third revokes the second',
    {
      endorsements: [
        endorsement(RETIRED_KEY, STRANGER_KEY, atHandover),
        endorsement(STRANGER_KEY, STATEMENT_KEY, atHandover),
      ],
      revocations: [
        revocation(RETIRED_KEY, STRANGER_KEY, ISSUED_AT - 40 * DAY),
        revocation(STRANGER_KEY, STATEMENT_KEY, ISSUED_AT - 40 * DAY),
      ],
    },
    { pinned_keys: [RETIRED_KEY.hex, STRANGER_KEY.hex, STATEMENT_KEY.hex] },
    {},
  ),
  signedBy(
    RETIRED_KEY,
    'revoked-by-all',
    'each of 24 successors revokes all before it, so that trying every combination takes too long',
    successors,
    OLD_PINNED,
    REFUSED,
  ),
  signedBy(
    RETIRED_KEY,
    'revoked-by-later-than-some',
    'a pinned key revokes the one that signed, of which one of two entries began earlier, and the other has no beginning',
    { revocations: [revocation(RETIRED_KEY, STATEMENT_KEY, ISSUED_AT - 40 * DAY)] },
    listed(
      signingKeys(
        listedKey(RETIRED_KEY, 'evidence-envelope'),
        listedKey(RETIRED_KEY, 'attestation', { valid_from: isoSeconds(ISSUED_AT - 300 * DAY) }),
        ofStatements(STATEMENT_KEY, ISSUED_AT - 30 * DAY),
      ),
    ),
    REFUSED,
  ),
  signedBy(
    RETIRED_KEY,
    'revoked-by-revoked',
    'a later key revokes the one that signed, and itself',
    {
      revocations: [
        revocation(RETIRED_KEY, STATEMENT_KEY, ISSUED_AT - 40 * DAY),
        revocation(STATEMENT_KEY, STATEMENT_KEY, ISSUED_AT - 20 * DAY),
      ],
    },
    twoKeys,
    {},
  ),
  published(
    'revoked-twice',
    'revoked since two times, of which one is after the block',
    [bySelf(BLOCK_TIME + 1), bySelf(BLOCK_TIME)],
    {},
    REFUSED,
  ),
  published(
    'revoked-by-two',
    'revoked by itself since after the block, and by a later key since the time of the block',
    [bySelf(BLOCK_TIME + 1), revocation(STATEMENT_KEY, STRANGER_KEY, BLOCK_TIME)],
    listed(
      signingKeys(ofStatements(STATEMENT_KEY, ISSUED_AT - 300 * DAY), ofStatements(STRANGER_KEY, ISSUED_AT - 30 * DAY)),
    ),
    REFUSED,
  ),
  published(
    'revoked-by-recovery-later',
    'revoked since after the block by the recovery key, whose word replaces that of the key itself',
    [bySelf(BLOCK_TIME - DAY), revocation(STATEMENT_KEY, RECOVERY_KEY, BLOCK_TIME + 1)],
    statementWithRecovery,
    {},
  ),
  {
    name: 'keys-redacted-endorsed',
    what: 'a redacted bundle with the endorsement of its key',
    document: { ...redactedOf(null), signing_keys: { endorsements: [GOOD], revocations: [] } },
    given: OLD_PINNED,
    expect: { inclusion_proven: 'not_checked', envelope_binds_commitment: 'not_checked' },
  },
]

function nulls(count: number): JsonObject[] {
  return Array.from({ length: count }, (): Json => null) as JsonObject[]
}
