// What was done to a locker, and what changed who can open it.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { ENVELOPE_ERRORS, NO_STORE, OrNull, Page, Timestamp, Words } from './wire.ts'

export const ActivityEntry = Type.Object(
  {
    at: Timestamp(),
    what: Words([
      'opened',
      'renewed',
      'renamed',
      'attested',
      'anchoring_changed',
      'operator_added',
      'operator_removed',
      'operator_named',
      'share_created',
      'share_ended',
      's3_key_created',
      's3_key_revoked',
      'public_link_opened',
      'public_link_rotated',
      'public_link_closed',
      'everything_ended',
      'frozen',
      'taken_down',
      'restriction_lifted',
      'other',
    ]),
    id: OrNull(Type.String({ description: 'The operator, share, S3 key or receipt. Null for everything else.' })),
    label: OrNull(
      Type.String({
        description:
          "The label of a share, the name of an S3 key, the new name of the locker or operator, the new anchoring, or the notice of the gateway's admin.",
      }),
    ),
    path: OrNull(Type.String({ description: 'What a share or an S3 key opens. Null: the whole locker, or unknown.' })),
    by: OrNull(Type.String({ description: 'The key that created a share or an S3 key. Null for everything else.' })),
    all_lockers: Type.Optional(Type.Literal(true, { description: 'The S3 key opens all lockers of the owner.' })),
    sequence: Type.Optional(Type.Integer({ description: 'Of the statement that was made.' })),
  },
  { title: 'ActivityEntry' },
)
export type ActivityEntry = Static<typeof ActivityEntry>

export const Activity = Type.Object(
  {
    locker_id: Type.String(),
    activity: Type.Array(ActivityEntry),
    count: Type.Integer(),
    next_cursor: Type.Optional(Type.String({ description: 'Where the next page begins. Absent on the last page.' })),
  },
  { title: 'Activity' },
)
export type Activity = Static<typeof Activity>

export const listActivity = endpoint({
  name: 'listActivity',
  method: 'GET',
  path: '/v1/lockers/{locker_id}/activity',
  auth: { ops: ['locker:admin'] },
  summary: 'List what was done to a locker and what changed who can open it, newest first',
  params: Type.Object({ locker_id: Type.String() }),
  query: Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 100,
        description: 'The maximum number of entries in a page.',
      }),
    ),
    cursor: Page.cursor,
  }),
  responses: { 200: Activity },
  headers: NO_STORE,
  errors: [...ENVELOPE_ERRORS, 'locker_not_found', 'receipt_is_renewal', 'validation_error', 'OWNER_REQUIRED'],
})
