// What was bought for a locker, and what of it is used.

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
    price_usd: OrNull(Type.Number({ description: 'As it was quoted. Null where the quote did not say.' })),
    paid_amount: Type.String({ description: 'In display units.' }),
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
    at: OrNull(Timestamp('Not before. Null: as soon as it can be done.')),
  },
  {
    title: 'NextAnchor',
    description:
      'The next statement that is published without a request. It waits for a budget (the first two reasons), for the chain (`publishing`), to be made because files have changed (`changes`), for its time (`schedule`), or for the next checkpoint of the log that is anchored (`log`). Null: none waits.',
  },
)
export type NextAnchor = Static<typeof NextAnchor>

export const LockerUsage = Type.Object(
  {
    locker_id: Type.String(),
    expires_at: Timestamp('Until when is paid.'),
    ended: Type.Boolean({ description: 'Whether that has passed. Nothing is deleted automatically.' }),
    enforced: Type.Boolean({ description: 'Whether writes beyond what was bought are refused with 507.' }),
    bytes: Used('Of all files, confirmed or not.'),
    files: Used('Entries of the manifest.'),
    egress: Used(
      'Bytes sent by the public link and short URLs since the locker was opened. Counted in memory and added every few seconds: a crash loses the last of them. What a provider sends itself counts as if all of it was read.',
    ),
    purchases: Type.Array(PaidPurchase, { description: 'The first, then renewals; of those the newest 100.' }),
    next_anchor: OrNull(NextAnchor),
    has_unattested_changes: Type.Boolean({ description: 'Whether the newest statement is not about these files.' }),
    renewal_units: Type.Integer({
      description:
        'How many units keep the size of the locker for another full term, by the terms of today: what it has, what it was opened with or what is in it, whichever is most.',
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
  summary: 'What was bought for a locker, until when, and what of it is used',
  params: Type.Object({ locker_id: Type.String() }),
  responses: { 200: LockerUsage },
  headers: NO_STORE,
  errors: [...ENVELOPE_ERRORS, 'locker_not_found', 'receipt_is_renewal', 'validation_error'],
})
