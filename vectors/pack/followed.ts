// Keys that endorse their successors, and keys that were revoked.

import { ANCHORED, anchored, GIVEN, plain } from './anchor-parts.ts'
import { bundleOf, changed, ISSUED_AT } from './bundles.ts'
import { type Case, type Facts, PINNED } from './case.ts'
import { isoSeconds, type JsonObject } from './formats.ts'
import { carried, DAY, endorsement, GOOD, named, REFUSED, revocation } from './key-changes.ts'
import { listedKey, RECOVERY_KEY, RETIRED_KEY, STATEMENT_KEY, STRANGER_KEY, signingKeys } from './keys.ts'
import { LOG_NODE, LOG_PASSED, PROVEN, WITH_POLICY } from './log-parts.ts'
import { BLOCK_TIME, known } from './transactions.ts'

const before = (days: number) => isoSeconds(ISSUED_AT - days * DAY)
const oldList = signingKeys(listedKey(RETIRED_KEY, 'evidence-envelope', { valid_from: before(300) }))
const closedList = signingKeys(
  listedKey(RETIRED_KEY, 'evidence-envelope', { valid_from: before(300), valid_to: before(100) }),
)
const withRecovery = { pinned_keys: { ...oldList, recovery: named(RECOVERY_KEY) } }
const MIDDLE_KEY = STRANGER_KEY
const toMiddle = endorsement(RETIRED_KEY, MIDDLE_KEY, { at: ISSUED_AT - 60 * DAY })
const fromMiddle = endorsement(MIDDLE_KEY, STATEMENT_KEY)

const GOOD_CHANGES: Case[] = [
  carried('endorsed', 'the pinned key endorses the one that signed', { endorsements: [GOOD] }, {}),
  carried(
    'endorsed-twice',
    'the pinned key endorses another one, and that one the key that signed',
    {
      endorsements: [fromMiddle, toMiddle],
    },
    {},
  ),
  carried(
    'endorsed-for-list',
    'the pinned key has a period that had not ended',
    { endorsements: [GOOD] },
    {},
    {
      pinned_keys: oldList,
    },
  ),
  carried(
    'endorsed-back',
    'the newer key endorses the older one in turn, which changes nothing',
    {
      endorsements: [GOOD, endorsement(STATEMENT_KEY, RETIRED_KEY, { at: ISSUED_AT - 20 * DAY })],
    },
    {},
  ),
  carried(
    'recovered',
    'the pinned recovery key revokes the older key and endorses the one that signed',
    {
      endorsements: [endorsement(RECOVERY_KEY, STATEMENT_KEY)],
      revocations: [revocation(RETIRED_KEY, RECOVERY_KEY, ISSUED_AT - 40 * DAY)],
    },
    {},
    withRecovery,
  ),
  carried(
    'pinned-and-revoked-before',
    'an older key is revoked; the one that signed is pinned itself',
    {
      endorsements: [GOOD],
      revocations: [revocation(RETIRED_KEY, STATEMENT_KEY, ISSUED_AT - 40 * DAY)],
    },
    {},
    PINNED,
  ),
  carried(
    'revoked-by-older',
    'an older key revokes a newer one, which is not allowed',
    {
      endorsements: [GOOD],
      revocations: [revocation(STATEMENT_KEY, RETIRED_KEY, ISSUED_AT - 25 * DAY)],
    },
    {},
  ),
  carried(
    'revoked-by-stranger',
    'an unrelated key revokes it',
    {
      revocations: [revocation(STATEMENT_KEY, STRANGER_KEY, ISSUED_AT - 25 * DAY)],
    },
    {},
    PINNED,
  ),
]

const BAD_CHANGES: Case[] = [
  carried('forged', 'an unrelated key signed the endorsement', {
    endorsements: [endorsement(RETIRED_KEY, STATEMENT_KEY, { by: STRANGER_KEY })],
  }),
  carried('altered', 'the endorsement was changed after it was signed', {
    endorsements: [changed(endorsement(RETIRED_KEY, MIDDLE_KEY), 'body.endorsed', named(STATEMENT_KEY))],
  }),
  carried('other-tag', 'signed under the tag of revocations', {
    endorsements: [endorsement(RETIRED_KEY, STATEMENT_KEY, { tag: 'SVC_KEY_REVOCATION_V1' })],
  }),
  carried('other-purpose', 'the endorsement is for something else', {
    endorsements: [endorsement(RETIRED_KEY, STATEMENT_KEY, { alter: { purpose: 'short-url' } })],
  }),
  carried('more-fields', 'the endorsement has a condition that no verifier knows', {
    endorsements: [endorsement(RETIRED_KEY, STATEMENT_KEY, { alter: { unless: 'revoked' } })],
  }),
  carried('key-id-other', 'the endorsement names the key by the id of another', {
    endorsements: [
      endorsement(RETIRED_KEY, STATEMENT_KEY, {
        alter: { endorsed: { ...named(STATEMENT_KEY), key_id: MIDDLE_KEY.id } },
      }),
    ],
  }),
  carried('backdated', 'the endorsement begins before it was made', {
    endorsements: [endorsement(RETIRED_KEY, STATEMENT_KEY, { alter: { valid_from: before(90) } })],
  }),
  carried('expired', 'made long after the period of the pinned key', { endorsements: [GOOD] }, REFUSED, {
    pinned_keys: closedList,
  }),
  carried('not-yet', 'the endorsed key signed before its time', {
    endorsements: [endorsement(RETIRED_KEY, STATEMENT_KEY, { at: ISSUED_AT + DAY })],
  }),
  carried('of-stranger', 'endorsed by a key that is not pinned', {
    endorsements: [endorsement(STRANGER_KEY, STATEMENT_KEY)],
  }),
  carried('itself', 'the key endorses itself', { endorsements: [endorsement(STATEMENT_KEY, STATEMENT_KEY)] }),
  carried('loop', 'two keys that endorse each other, neither of them pinned', {
    endorsements: [endorsement(STATEMENT_KEY, MIDDLE_KEY), endorsement(MIDDLE_KEY, STATEMENT_KEY)],
  }),
  carried('two-successors', 'the pinned key endorses two keys', {
    endorsements: [GOOD, endorsement(RETIRED_KEY, MIDDLE_KEY)],
  }),
  carried('of-revoked', 'the key that endorses was revoked by the one that it endorses', {
    endorsements: [GOOD],
    revocations: [revocation(RETIRED_KEY, STATEMENT_KEY, ISSUED_AT + DAY)],
  }),
  carried(
    'of-revoked-by-recovery',
    'the key that endorses was revoked by the recovery key',
    {
      endorsements: [GOOD],
      revocations: [revocation(RETIRED_KEY, RECOVERY_KEY, ISSUED_AT + DAY)],
    },
    REFUSED,
    withRecovery,
  ),
  carried('recovery-not-pinned', 'a recovery key that only the bundle names endorses', {
    endorsements: [endorsement(RECOVERY_KEY, STATEMENT_KEY)],
  }),
  carried(
    'revoked-by-itself',
    'the key that signed revoked itself',
    {
      revocations: [revocation(STATEMENT_KEY, STATEMENT_KEY, ISSUED_AT + DAY)],
    },
    REFUSED,
    PINNED,
  ),
  carried('not-a-list', 'endorsements is not a list', { endorsements: GOOD as unknown as JsonObject[] }),
  carried('of-null', 'endorsements holds no endorsement', { endorsements: [null as unknown as JsonObject, {}] }),
]

function revokedSince(bundle: JsonObject, since: number): JsonObject {
  return changed(bundle, 'signing_keys', {
    ...signingKeys(listedKey(STATEMENT_KEY, 'receipt')),
    revocations: [revocation(STATEMENT_KEY, STATEMENT_KEY, since)],
  })
}

/** A published statement of a key that was revoked. */
function published(name: string, what: string, since: number, expect: Facts, isAsked = true): Case {
  const document = revokedSince(anchored(plain), since)
  const asked = isAsked ? { rpc: known(plain), expect: { ...ANCHORED, ...expect } } : { expect }
  return { name: `keys-${name}`, what, document, given: GIVEN, ...asked }
}

const PUBLISHED: Case[] = [
  published('revoked-after-anchor', 'revoked since a time after the block of the anchor', BLOCK_TIME + 1, {}),
  published('revoked-before-anchor', 'revoked since the time of the block', BLOCK_TIME, REFUSED),
  {
    name: 'keys-revoked-after-log',
    what: 'revoked since a time after the block that has a checkpoint with the statement',
    document: { ...revokedSince(bundleOf(), BLOCK_TIME + 1), log: PROVEN },
    given: WITH_POLICY,
    rpc: LOG_NODE,
    expect: LOG_PASSED,
  },
  {
    name: 'keys-revoked-before-log',
    what: 'revoked since the time of that block',
    document: { ...revokedSince(bundleOf(), BLOCK_TIME), log: PROVEN },
    given: WITH_POLICY,
    rpc: LOG_NODE,
    expect: { ...LOG_PASSED, ...REFUSED },
  },
  published('revoked-not-asked', 'revoked, and no node reports the time of the anchor', BLOCK_TIME + 1, REFUSED, false),
]

export const FOLLOWED = [...GOOD_CHANGES, ...BAD_CHANGES, ...PUBLISHED]
