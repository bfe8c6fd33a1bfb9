// Making statements, for the operator and the queue.

import Type, { type Static } from 'typebox'
import { AttestAnswer } from './attestations.ts'
import { endpoint } from './endpoint.ts'
import { NO_STORE, OrNull, Timestamp } from './wire.ts'

const AnchorCosts = Type.Object(
  {
    published: Type.Integer(),
    failed: Type.Integer({ description: 'In a block, but refused by a program.' }),
    expired: Type.Integer({ description: 'Never in a block.' }),
    fee_lamports_total: Type.Integer(),
    rent_lamports_total: Type.Integer({ description: 'Locked in accounts now.' }),
    publication_key: Type.String({ description: 'Who pays; base58.' }),
    balance_lamports: OrNull(Type.Integer({ description: 'Null while no node answers.' })),
    low_balance: Type.Boolean(),
    retrying: Type.Optional(
      Type.Object(
        { count: Type.Integer(), last_error: Type.String({ description: 'Of the one that is tried next.' }) },
        { description: 'Receipts whose newest statement could not be published and is tried again.' },
      ),
    ),
  },
  { title: 'AnchorCosts' },
)
export type AnchorCosts = Static<typeof AnchorCosts>

export const AttestHealth = Type.Object(
  {
    counts: Type.Object({
      pending: Type.Integer(),
      computed: Type.Integer(),
      pushing: Type.Integer(),
      complete: Type.Integer(),
    }),
    oldest_nonfinal_age_sec: OrNull(Type.Integer()),
    nonfinal_unknown_age: Type.Integer(),
    /** Only on a gateway that publishes. */
    anchors: Type.Optional(AnchorCosts),
    time: Timestamp(),
  },
  { title: 'AttestHealth' },
)
export type AttestHealth = Static<typeof AttestHealth>

const internal = { auth: 'internal', headers: NO_STORE } as const

export const internalAttest = endpoint({
  ...internal,
  name: 'internalAttest',
  method: 'POST',
  repeatable: false,
  path: '/v1/internal/attest',
  summary: 'Attest a locker, as the queue does; 502 where its statement should be published by another call',
  body: Type.Object({
    receipt_id: Type.String(),
    push: Type.Optional(Type.Boolean()),
    force: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'A new statement also when nothing has changed, unless the newest is still to be published.',
      }),
    ),
  }),
  responses: { 200: AttestAnswer },
  errors: [
    'INTERNAL_AUTH_REQUIRED',
    'receipt_not_found',
    'locker_not_found',
    'receipt_is_renewal',
    'EMPTY_FILE_LIST',
    'CONTENT_HASH_CHANGED',
    'validation_error',
    'STORAGE_UNAVAILABLE',
    'anchor_failed',
    'database_behind',
  ],
})

export const internalAttestPayment = endpoint({
  ...internal,
  name: 'internalAttestPayment',
  method: 'POST',
  repeatable: false,
  path: '/v1/internal/attest-payment',
  summary: "Record the code of a receipt's payment",
  body: Type.Object({ receipt_id: Type.String() }),
  responses: {
    200: Type.Object({
      ok: Type.Literal(true),
      receipt_id: Type.String(),
      att_code: Type.Integer(),
      recorded: Type.Boolean(),
      publish_after: Type.Optional(Timestamp('The budget is used up: the code is published after this.')),
      publish_error: Type.Optional(
        Type.String({ description: 'Why the code cannot be published, where only the operator can help.' }),
      ),
    }),
  },
  errors: ['INTERNAL_AUTH_REQUIRED', 'receipt_not_found', 'anchor_failed', 'validation_error', 'database_behind'],
})

export const internalBridgeRetry = endpoint({
  ...internal,
  name: 'internalBridgeRetry',
  method: 'POST',
  repeatable: false,
  path: '/v1/internal/bridge-retry',
  summary: 'Retry what could not be written to the EVM registry; 503 while some of it should be retried',
  body: Type.Object({
    receipt_id: Type.Optional(Type.String()),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 50 })),
  }),
  responses: {
    200: Type.Object({
      ok: Type.Boolean(),
      attempted: Type.Integer(),
      succeeded: Type.Integer(),
      failed: Type.Integer(),
      deferred: Type.Optional(Type.Integer({ description: 'The budget is used up: these are written later.' })),
    }),
  },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error', 'chain_unavailable', 'database_behind'],
})

export const CronAttestAnswer = Type.Object(
  {
    ok: Type.Literal(true),
    enabled: Type.Boolean(),
    selected: Type.Integer(),
    attested: Type.Integer(),
    pushed: Type.Integer(),
    skipped: Type.Integer(),
    failed: Type.Integer(),
    results: Type.Array(Type.Object({ receipt_id: Type.String(), status: Type.String() })),
  },
  { title: 'CronAttestAnswer' },
)
export type CronAttestAnswer = Static<typeof CronAttestAnswer>

export const internalCronAttest = endpoint({
  ...internal,
  name: 'internalCronAttest',
  method: 'POST',
  repeatable: false,
  path: '/v1/internal/cron-attest',
  summary:
    'Attest again the lockers that are due; 5xx where one of them should be attested or published by another call',
  body: Type.Object({ dry_run: Type.Optional(Type.Boolean({ default: false })) }),
  responses: { 200: CronAttestAnswer },
  errors: [
    'INTERNAL_AUTH_REQUIRED',
    'validation_error',
    'STORAGE_UNAVAILABLE',
    'chain_unavailable',
    'anchor_failed',
    'database_behind',
    'internal_error',
  ],
})

export const internalAttestHealth = endpoint({
  ...internal,
  name: 'internalAttestHealth',
  method: 'GET',
  path: '/v1/internal/attest-health',
  summary: 'How many attestations are in which state, and for how long',
  responses: { 200: AttestHealth },
  errors: ['INTERNAL_AUTH_REQUIRED'],
})
