// What was bought for a locker, and how much of it is used.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { ENVELOPE_ERRORS, NO_STORE, OrNull, Timestamp, Words } from './wire.ts'

export const Used = (description: string) =>
  Type.Object({ used: Type.Integer(), bought: Type.Integer() }, { description })

const PaidPurchase = Type.Object(
  {
    receipt_id: Type.String(),
    kind: Words(['purchase', 'renewal']),
    units: Type.Integer(),
    price_usd: OrNull(Type.Number({ description: 'The quoted price. Null if the quote did not contain it.' })),
    paid_amount: Type.String({ description: 'The amount in display units.' }),
    pay_asset: Type.String(),
    network: Type.String(),
    confirmed_at: Timestamp(),
  },
  { title: 'PaidPurchase' },
)
export type PaidPurchase = Static<typeof PaidPurchase>

const NextAnchor = Type.Object(
  {
    reason: Words(['limit_reached', 'daily_budget_used', 'publishing', 'changes', 'schedule', 'log']),
    at: OrNull(Timestamp('The earliest time. Null means as soon as possible.')),
  },
  {
    title: 'NextAnchor',
    description:
      'The next statement that will be published without a request. It waits for a budget (the first two reasons), for the chain (`publishing`), to be made because files have changed (`changes`), for its scheduled time (`schedule`), or for the next anchored checkpoint of the log (`log`). Null if none is waiting.',
  },
)
export type NextAnchor = Static<typeof NextAnchor>

export const LockerUsage = Type.Object(
  {
    locker_id: Type.String(),
    expires_at: Timestamp('The end of the paid term.'),
    ended: Type.Boolean({ description: 'Whether the paid term has ended. Nothing is deleted automatically.' }),
    enforced: Type.Boolean({ description: 'Whether writes beyond what was bought are refused with 507.' }),
    bytes: Used('The size of all files, confirmed or not.'),
    files: Used('The number of entries in the manifest.'),
    egress: Used(
      'The bytes sent by the public link, shares and short URLs since the locker was opened. They are counted in memory and saved every few seconds, so a crash loses the last ones. Downloads that a provider serves itself count in full.',
    ),
    purchases: Type.Array(PaidPurchase, { description: 'The first purchase, then the newest 100 renewals.' }),
    next_anchor: OrNull(NextAnchor),
    has_unattested_changes: Type.Boolean({ description: 'Whether files have changed since the newest statement.' }),
    renewal_units: Type.Integer({
      description:
        "The number of units that extend the locker at its size for another full term, by today's terms. The size is the largest of its current terms, its first terms and its content.",
    }),
  },
  { title: 'LockerUsage' },
)
export type LockerUsage = Static<typeof LockerUsage>

export const lockerUsage = endpoint({
  name: 'lockerUsage',
  method: 'GET',
  path: '/v1/lockers/{locker_id}/usage',
  auth: { ops: [['locker:read', 'locker:list']] },
  summary: 'What was bought for a locker, until when, and how much of it is used',
  params: Type.Object({ locker_id: Type.String() }),
  responses: { 200: LockerUsage },
  headers: NO_STORE,
  errors: [...ENVELOPE_ERRORS, 'locker_not_found', 'receipt_is_renewal', 'validation_error'],
})
