// Confirmation by a service on behalf of a developer: receipt and locker in one step.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { LockerRecord, TAGGED_BODY_BYTES, Tags } from './lockers.ts'
import { Confirmation } from './purchases.ts'
import { NO_STORE, OrNull } from './wire.ts'

const Sponsorship = {
  tx_sig: Type.String({ description: 'The transaction that paid.' }),
  owner_identity: Type.String({ description: 'The wallet that paid on chain, which will own the locker.' }),
  tags: Type.Optional(Tags),
}

export const SponsoredConfirmation = Type.Object(
  {
    ...Confirmation.properties,
    locker: LockerRecord,
    locker_id: Type.String(),
    already_provisioned: Type.Boolean(),
    owner_identity: Type.String(),
  },
  { title: 'SponsoredConfirmation' },
)
export type SponsoredConfirmation = Static<typeof SponsoredConfirmation>

const PositionResult = Type.Object(
  {
    position: Type.Integer(),
    pay_req_id: Type.String(),
    ok: Type.Boolean(),
    receipt_id: Type.String(),
    locker_id: OrNull(Type.String()),
    already_provisioned: Type.Boolean(),
    error: OrNull(
      Type.String({ description: 'The error code if the locker could not be opened. The receipt remains valid.' }),
    ),
  },
  { title: 'SponsoredPosition' },
)

export const SponsoredBatch = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether the locker of every quote is open.' }),
    tx_sig: Type.String(),
    owner_identity: Type.String(),
    network: Type.String(),
    total: Type.Integer(),
    succeeded: Type.Integer(),
    failed: Type.Integer(),
    results: Type.Array(PositionResult, { description: 'In the order of pay_req_ids.' }),
  },
  { title: 'SponsoredBatch' },
)
export type SponsoredBatch = Static<typeof SponsoredBatch>

const ERRORS = [
  'OIDC_TOKEN_INVALID',
  'SERVICE_NOT_AUTHORIZED',
  'identity_provider_unavailable',
  'OWNER_IDENTITY_MISMATCH',
  'tx_required',
  'tx_not_found',
  'payment_verification_failed',
  'pay_req_not_found',
  'quote_expired',
  'receipt_is_renewal',
  'chain_unavailable',
  'database_behind',
  'logbook_unavailable',
  'validation_error',
] as const

export const sponsoredConfirm = endpoint({
  name: 'sponsoredConfirm',
  method: 'POST',
  // A repeated confirmation returns the same receipt.
  repeatable: true,
  path: '/v1/storage/sponsored-confirm',
  auth: 'oidc',
  summary: 'Confirm a payment for the developer who made it: receipt and locker at once',
  maxBodyBytes: TAGGED_BODY_BYTES,
  body: Type.Object({ pay_req_id: Type.String(), ...Sponsorship }),
  responses: { 200: SponsoredConfirmation },
  headers: NO_STORE,
  errors: [...ERRORS, 'LOCKER_LIMIT_EXCEEDED', 'LOCKER_ID_COLLISION'],
})

export const sponsoredConfirmBatch = endpoint({
  name: 'sponsoredConfirmBatch',
  method: 'POST',
  // A repeated confirmation returns the same receipts.
  repeatable: true,
  path: '/v1/storage/sponsored-confirm-batch',
  auth: 'oidc',
  summary: 'Confirm one payment for several quotes: receipts and lockers at once',
  maxBodyBytes: TAGGED_BODY_BYTES,
  body: Type.Object({
    pay_req_ids: Type.Array(Type.String(), { minItems: 1, maxItems: 100, uniqueItems: true }),
    ...Sponsorship,
  }),
  responses: { 200: SponsoredBatch },
  headers: NO_STORE,
  errors: [...ERRORS, 'mixed_networks'],
})
