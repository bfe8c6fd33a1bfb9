// Uses and periods of the keys in a pinned list.

import { bundleOf, bundleV1, changed, ISSUED_AT } from './bundles.ts'
import { type Case, type Facts, OF_V1 } from './case.ts'
import { isoSeconds, type Json, type JsonObject } from './formats.ts'
import { listedKey, RETIRED_KEY, STATEMENT_KEY, STRANGER_KEY, signingKeys } from './keys.ts'

const DAY = 86_400
const REFUSED: Facts = { key_pinned: 'failed' }
const TEN_MINUTES = 600
const start = ISSUED_AT - 300 * DAY
const end = ISSUED_AT + DAY

const retiredAt = (validTo: number) => listedKey(RETIRED_KEY, 'evidence-envelope', { valid_to: isoSeconds(validTo) })
const from = (validFrom: number) => listedKey(STATEMENT_KEY, 'evidence-envelope', { valid_from: isoSeconds(validFrom) })
const rolling = signingKeys(
  listedKey(RETIRED_KEY, 'evidence-envelope', { valid_from: isoSeconds(start), valid_to: isoSeconds(end) }),
  from(end),
)

function pinned(name: string, what: string, list: JsonObject, document: JsonObject, expect: Facts = REFUSED): Case {
  return { name: `period-${name}`, what, document, given: { pinned_keys: list }, expect }
}

const v1 = bundleV1()
/** One key for one use with two periods, which end and begin so many days before a statement. */
const twoPeriods = (use: string, endDays: number, beginDays: number) =>
  signingKeys(
    listedKey(STATEMENT_KEY, use, { valid_from: isoSeconds(start), valid_to: isoSeconds(ISSUED_AT - endDays * DAY) }),
    listedKey(STATEMENT_KEY, use, { valid_from: isoSeconds(ISSUED_AT - beginDays * DAY) }),
  )

function v1At(
  name: string,
  what: string,
  time: Json,
  period: JsonObject,
  expect: Facts,
  others: JsonObject[] = [],
): Case {
  const list = signingKeys(listedKey(STATEMENT_KEY, 'attestation', period), ...others)
  return pinned(`v1-${name}`, what, list, changed(v1, 'commitment.attested_at', time), { ...OF_V1, ...expect })
}

export const PERIODS: Case[] = [
  {
    name: 'period-use-of-v1',
    of: 'v2',
    what: 'version 2, and the key is pinned for version 1 alone',
    given: { pinned_keys: signingKeys(listedKey(STATEMENT_KEY, 'attestation')) },
    expect: REFUSED,
  },
  {
    name: 'period-use-of-v2',
    of: 'v1',
    what: 'version 1, and the key is pinned for version 2 alone',
    given: { pinned_keys: signingKeys(listedKey(STATEMENT_KEY, 'evidence-envelope')) },
    expect: { ...OF_V1, ...REFUSED },
  },
  pinned(
    'other-use-first',
    'earlier than its key, which is the first for statements: another one is older, for receipts',
    signingKeys(from(ISSUED_AT + DAY), listedKey(STRANGER_KEY, 'receipt', { valid_from: isoSeconds(start) })),
    bundleOf(),
    {},
  ),
  pinned(
    'first-of-some',
    'earlier than its key, and another key of the list has no beginning',
    signingKeys(from(ISSUED_AT + DAY), listedKey(STRANGER_KEY, 'evidence-envelope')),
    bundleOf(),
  ),
  pinned(
    'ended-first',
    'older than the first key of the list, signed by the second',
    rolling,
    bundleOf({ issuedAt: ISSUED_AT - 400 * DAY }),
  ),
  pinned(
    'end-600',
    'ten minutes after the end of its key',
    signingKeys(retiredAt(ISSUED_AT - TEN_MINUTES)),
    bundleOf({ key: RETIRED_KEY }),
    {},
  ),
  pinned(
    'end-601',
    'ten minutes and a second after the end of its key',
    signingKeys(retiredAt(ISSUED_AT - TEN_MINUTES - 1)),
    bundleOf({ key: RETIRED_KEY }),
  ),
  pinned('begin-600', 'ten minutes before its key', rolling, bundleOf({ issuedAt: end - TEN_MINUTES }), {}),
  pinned(
    'begin-601',
    'ten minutes and a second before its key',
    rolling,
    bundleOf({ issuedAt: end - TEN_MINUTES - 1 }),
  ),
  pinned(
    'fraction',
    'the decimals of a second of the list do not count',
    signingKeys({ ...retiredAt(ISSUED_AT), valid_to: isoSeconds(ISSUED_AT - TEN_MINUTES).replace('Z', '.999999999Z') }),
    bundleOf({ key: RETIRED_KEY }),
    {},
  ),
  pinned(
    'issued-at',
    'two times that differ, of which only issued_at_unix is after the end of the key',
    signingKeys(retiredAt(end)),
    bundleOf({ key: RETIRED_KEY, alter: (body) => Object.assign(body, { issued_at_unix: ISSUED_AT + 9 * DAY }) }),
    { envelope_binds_commitment: 'failed' },
  ),
  pinned(
    'issued-at-unix',
    'two times that differ, of which only issued_at is after the end of the key',
    signingKeys(retiredAt(ISSUED_AT - DAY)),
    bundleOf({ key: RETIRED_KEY, alter: (body) => Object.assign(body, { issued_at_unix: ISSUED_AT - 9 * DAY }) }),
    { envelope_binds_commitment: 'failed', ...REFUSED },
  ),
  pinned(
    'first-of-two',
    'in the first of two periods of its key',
    twoPeriods('evidence-envelope', -1, -2),
    bundleOf(),
    {},
  ),
  pinned(
    'second-of-two',
    'in the second of two periods of its key',
    twoPeriods('evidence-envelope', 2, 1),
    bundleOf(),
    {},
  ),
  pinned('between-two', 'between two periods of its key', twoPeriods('evidence-envelope', 1, -1), bundleOf()),
  pinned('v1-two', 'version 1, and the second of two periods has no end', twoPeriods('attestation', 2, 1), v1, {
    ...OF_V1,
  }),
  pinned(
    'no-time',
    'a key with a beginning, and no time in the statement',
    signingKeys(from(start)),
    bundleOf({ alter: (body) => Object.assign(body, { issued_at: 'long ago' }) }),
    { envelope_binds_commitment: 'failed', ...REFUSED },
  ),
  pinned(
    'retired-without-end',
    'retired without an end: the status does not matter',
    signingKeys({ ...listedKey(STATEMENT_KEY, 'evidence-envelope'), status: 'retired' }),
    bundleOf(),
    {},
  ),
  pinned(
    'revoked-since',
    'a time of revocation without the document',
    signingKeys({ ...listedKey(STATEMENT_KEY, 'evidence-envelope'), revoked_since: isoSeconds(start) }),
    bundleOf(),
    {},
  ),
  v1At(
    'after-end',
    'version 1 that claims a time after the end of its key',
    isoSeconds(ISSUED_AT),
    { valid_to: isoSeconds(ISSUED_AT - TEN_MINUTES - 1) },
    REFUSED,
  ),
  v1At(
    'end-600',
    'version 1 that claims a time ten minutes after the end of its key, which it does not sign',
    isoSeconds(ISSUED_AT),
    { valid_to: isoSeconds(ISSUED_AT - TEN_MINUTES) },
    { key_pinned: 'not_checked' },
  ),
  v1At(
    'before-begin',
    'version 1 that claims a time before its key, which is not the first',
    isoSeconds(ISSUED_AT),
    { valid_from: isoSeconds(ISSUED_AT + DAY) },
    REFUSED,
    [listedKey(STRANGER_KEY, 'attestation', { valid_from: isoSeconds(start) })],
  ),
  v1At(
    'before-first',
    'version 1 that claims a time before the first key of the list, its own',
    isoSeconds(ISSUED_AT),
    { valid_from: isoSeconds(ISSUED_AT + DAY) },
    {},
  ),
  v1At(
    'no-time',
    'version 1 without a time, and a key with a beginning',
    null,
    { valid_from: isoSeconds(start) },
    REFUSED,
  ),
  v1At('no-time-no-period', 'version 1 without a time, and a key without a period', 'x', {}, {}),
  v1At(
    'bad-day',
    'version 1 on a day that does not exist, and a key with a beginning',
    '2026-02-30T00:00:00Z',
    { valid_from: '2026-01-01T00:00:00Z' },
    REFUSED,
  ),
]
