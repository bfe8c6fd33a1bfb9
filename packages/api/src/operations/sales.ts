// Sales and growth over time, and exports.

import Type, { type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { Timestamp, Words } from '../wire.ts'
import { Amount, BASE, Count, Range, reading, Usd } from './admin-endpoint.ts'

const SalesPeriod = Type.Object(
  {
    start: Timestamp('The start of the hour, the day or the week (on Monday), in UTC.'),
    network: Type.String(),
    asset: Type.String({ description: 'Ticker.' }),
    provider: Type.String(),
    purchases: Count('Lockers sold.'),
    renewals: Count(),
    units: Count(),
    paid_raw: Amount('The amount in atomic units of the asset.'),
    paid_amount: Type.String({ description: 'The same amount in display units.' }),
    price_usd: Usd('The sum of the quoted prices.'),
  },
  { title: 'SalesPeriod' },
)
export type SalesPeriod = Static<typeof SalesPeriod>

export const AdminSales = Type.Object(
  {
    from: Timestamp(),
    to: Timestamp(),
    bucket: Words(['hour', 'day', 'week']),
    periods: Type.Array(SalesPeriod, { description: 'In chronological order. Periods without a sale are left out.' }),
    uncounted: Count('The number of receipts that the next count will add. 0 except shortly after a sale.'),
  },
  { title: 'AdminSales' },
)
export type AdminSales = Static<typeof AdminSales>

export const adminSales = endpoint({
  ...reading,
  name: 'adminSales',
  path: `${BASE}/sales`,
  summary: 'Sales over time, by asset and provider',
  query: Type.Object({
    ...Range,
    bucket: Type.Optional(
      Type.Enum(['hour', 'day', 'week'], {
        default: 'day',
        description: 'At most 62 days by hour, 3 years by day and 20 years by week.',
      }),
    ),
  }),
  responses: { 200: AdminSales },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

const GrowthSample = Type.Object({
  at: Timestamp(),
  lockers: Count(),
  files: Count(),
  bytes: Count(),
  purchases: Count(),
})

export const AdminGrowth = Type.Object(
  { from: Timestamp(), to: Timestamp(), samples: Type.Array(GrowthSample, { description: 'In chronological order.' }) },
  { title: 'AdminGrowth' },
)
export type AdminGrowth = Static<typeof AdminGrowth>

export const adminGrowth = endpoint({
  ...reading,
  name: 'adminGrowth',
  path: `${BASE}/growth`,
  summary: 'Lockers, files and bytes over time: hourly for 90 days, daily before that',
  query: Type.Object(Range),
  responses: { 200: AdminGrowth },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

export const treasuryStatement = endpoint({
  ...reading,
  name: 'treasuryStatement',
  path: `${BASE}/treasury-statement`,
  summary: 'Payments and refunds, one line each, as CSV in chronological order',
  query: Type.Object(Range),
  responses: { 200: Type.String() },
  contentType: 'text/csv; charset=utf-8',
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

export const exportReceipts = endpoint({
  ...reading,
  name: 'exportReceipts',
  path: `${BASE}/receipts`,
  summary: 'All receipts in chronological order, as CSV or as lines of JSON',
  query: Type.Object({
    ...Range,
    format: Type.Optional(Type.Enum(['csv', 'jsonl'], { default: 'jsonl' })),
  }),
  responses: { 200: Type.String() },
  contentType: 'application/x-ndjson; charset=utf-8',
  contentTypes: ['application/x-ndjson; charset=utf-8', 'text/csv; charset=utf-8'],
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})
