// Making statements: endpoints for the admin and the queue.

import Type, { type Static } from 'typebox'
import { AttestAnswer } from './attestations.ts'
import { endpoint } from './endpoint.ts'
import { NO_STORE, OrNull, Timestamp } from './wire.ts'

const AnchorCosts = Type.Object(
  {
    published: Type.Integer(),
    failed: Type.Integer({ description: 'Transactions in a block that a program refused.' }),
    expired: Type.Integer({ description: 'Transactions that never got into a block.' }),
    fee_lamports_total: Type.Integer(),
    rent_lamports_total: Type.Integer({ description: 'The rent that is locked in accounts.' }),
    publication_key: Type.String({ description: 'Who pays; base58.' }),
    balance_lamports: OrNull(Type.Integer({ description: 'Null while no node answers.' })),
    low_balance: Type.Boolean(),
    retrying: Type.Optional(
      Type.Object(
        {
          count: Type.Integer(),
          last_error: Type.String({ description: 'The error of the receipt that is tried next.' }),
        },
        { description: 'Receipts whose newest statement could not be published and will be retried.' },
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
    /** Present only if the gateway publishes statements. */
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
  summary: 'Attest a locker, as the queue does; 502 if the call should be repeated to publish the statement',
  body: Type.Object({
    receipt_id: Type.String(),
    push: Type.Optional(Type.Boolean()),
    force: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Makes a new statement even if nothing has changed, unless the newest has not been published yet.',
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
  summary: "Record the attestation code of a receipt's payment",
  body: Type.Object({ receipt_id: Type.String() }),
  responses: {
    200: Type.Object({
      ok: Type.Literal(true),
      receipt_id: Type.String(),
      att_code: Type.Integer(),
      recorded: Type.Boolean(),
      publish_after: Type.Optional(Timestamp('The budget is used up. The code is published after this time.')),
      publish_error: Type.Optional(
        Type.String({ description: 'Why the code cannot be published, if only the admin can fix it.' }),
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
  summary: 'Retry failed writes to the EVM registry; 503 while some should be retried again',
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
      deferred: Type.Optional(
        Type.Integer({ description: 'How many are written later because the budget is used up.' }),
      ),
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
  summary: 'Attest the lockers that are due again; 5xx if the call should be repeated to attest or publish one of them',
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
  summary: 'The number of attestations in each state, and for how long',
  responses: { 200: AttestHealth },
  errors: ['INTERNAL_AUTH_REQUIRED'],
})
