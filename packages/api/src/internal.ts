// For the operator's own tools, the task queue and the scheduler.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { Receipt } from './receipts.ts'
import { Used } from './usage.ts'
import { NO_STORE, OrNull, Timestamp } from './wire.ts'

const Amount = (description: string) => Type.String({ pattern: '^(0|[1-9][0-9]*)$', description })

const TreasuryAsset = Type.Object({
  asset: Type.String({ description: 'Ticker.' }),
  decimals: Type.Optional(Type.Integer({ description: 'Of the amounts: 6 means millionths.' })),
  account: Type.String({ description: 'Where it is paid.' }),
  balance_raw: OrNull(Amount('On chain, now.')),
  received_raw: Amount('Brought in by every transaction that paid for something.'),
  receipts: Type.Integer(),
  error: Type.Optional(Type.Literal('chain_unavailable')),
})

export const TreasurySummary = Type.Object(
  {
    networks: Type.Array(
      Type.Object({ network: Type.String(), address: Type.String(), assets: Type.Array(TreasuryAsset) }),
    ),
    receipts_total: Type.Integer(),
    time: Timestamp(),
  },
  { title: 'TreasurySummary' },
)
export type TreasurySummary = Static<typeof TreasurySummary>

export const treasurySummary = endpoint({
  name: 'treasurySummary',
  method: 'GET',
  path: '/v1/internal/treasury/summary',
  auth: 'internal',
  summary: 'What the treasury holds on chain, and what purchases brought in',
  responses: { 200: TreasurySummary },
  headers: NO_STORE,
  errors: ['INTERNAL_AUTH_REQUIRED'],
})

export const findReceipts = endpoint({
  name: 'findReceipts',
  method: 'GET',
  path: '/v1/internal/receipts',
  auth: 'internal',
  summary: 'The receipts of a transaction, for a payer whose payment was confirmed by somebody else',
  query: Type.Object({
    tx: Type.String({
      pattern: '^(0[xX][0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$',
      description: 'Signature or hash; a hash in any case.',
    }),
  }),
  responses: { 200: Type.Object({ receipts: Type.Array(Receipt) }) },
  headers: NO_STORE,
  errors: ['INTERNAL_AUTH_REQUIRED', 'receipt_not_found', 'validation_error'],
})

const LockerOverTerms = Type.Object(
  {
    locker_id: Type.String(),
    owner: Type.String(),
    provider: Type.String(),
    used_percent: Type.Integer({ description: 'Of bytes, files or egress, whichever is used the most.' }),
    bytes: Used('Of all files, confirmed or not.'),
    files: Used('Entries of the manifest.'),
    egress: Used('Bytes sent by the public link and short URLs, about.'),
    expires_at: Timestamp(),
    ended: Type.Boolean(),
  },
  { title: 'LockerOverTerms' },
)
export type LockerOverTerms = Static<typeof LockerOverTerms>

export const lockersOverTerms = endpoint({
  name: 'lockersOverTerms',
  method: 'GET',
  path: '/v1/internal/lockers/over-terms',
  auth: 'internal',
  summary: 'Lockers that use more than was bought, or still hold files after its end; the furthest over first',
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}-locker_[0-9a-f]{12}$' })),
  }),
  responses: {
    200: Type.Object({
      lockers: Type.Array(LockerOverTerms),
      next_cursor: Type.Optional(Type.String({ description: 'Where the next page begins; absent on the last.' })),
    }),
  },
  headers: NO_STORE,
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})
