// Endpoints for the admin's tools, the task queue and the scheduler.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { Receipt } from './receipts.ts'
import { Used } from './usage.ts'
import { NO_STORE, OrNull, Timestamp } from './wire.ts'

const Amount = (description: string) => Type.String({ pattern: '^(0|[1-9][0-9]*)$', description })

const TreasuryAsset = Type.Object({
  asset: Type.String({ description: 'Ticker.' }),
  decimals: Type.Optional(Type.Integer({ description: 'The decimals of the amounts: 6 means millionths.' })),
  account: Type.String({ description: 'The account that receives payments.' }),
  balance_raw: OrNull(Amount('On chain, now.')),
  received_raw: Amount('The sum of all payments that were used for a purchase.'),
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
  summary: 'The balances of the treasury on chain, and the income from purchases',
  responses: { 200: TreasurySummary },
  headers: NO_STORE,
  errors: ['INTERNAL_AUTH_REQUIRED'],
})

export const findReceipts = endpoint({
  name: 'findReceipts',
  method: 'GET',
  path: '/v1/internal/receipts',
  auth: 'internal',
  summary: 'The receipts of a transaction, for a payer whose payment was confirmed by someone else',
  query: Type.Object({
    tx: Type.String({
      pattern: '^(0[xX][0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$',
      description: 'The signature or hash of the transaction. The case of a hash is ignored.',
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
    used_percent: Type.Integer({ description: 'The highest of the percentages of bytes, files and egress.' }),
    bytes: Used('The size of all files, confirmed or not.'),
    files: Used('The number of entries in the manifest.'),
    egress: Used('The approximate number of bytes sent by the public link and short URLs.'),
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
  summary: 'Lockers that use more than was bought, or still have files after their term; the furthest over first',
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}-locker_[0-9a-f]{12}$' })),
  }),
  responses: {
    200: Type.Object({
      lockers: Type.Array(LockerOverTerms),
      next_cursor: Type.Optional(Type.String({ description: 'Where the next page begins. Absent on the last page.' })),
    }),
  },
  headers: NO_STORE,
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})
