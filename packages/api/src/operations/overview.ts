// The identity of the caller, and an overview of the business and its health.

import Type, { type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { AttestHealth } from '../internal-attestations.ts'
import { OrNull, Timestamp, Words } from '../wire.ts'
import { BASE, Count, reading, Usd } from './admin-endpoint.ts'

export const AdminIdentity = Type.Object(
  {
    identity: Type.String({ description: 'The identity that the audit trail records.' }),
    kind: Words(['oidc', 'secret', 'development']),
    may_act: Type.Boolean({ description: 'Whether ADMINS names this identity.' }),
  },
  { title: 'AdminIdentity' },
)
export type AdminIdentity = Static<typeof AdminIdentity>

export const adminIdentity = endpoint({
  ...reading,
  name: 'adminIdentity',
  path: `${BASE}/identity`,
  summary: 'The identity of the caller, and whether they may act',
  responses: { 200: AdminIdentity },
  errors: ['INTERNAL_AUTH_REQUIRED'],
})

const AdminBudget = Type.Object({
  name: Type.String(),
  unit: Words(['lamports', 'gwei']),
  per_day: Count('0: no limit.'),
  used: Count(),
  transactions: Count(),
  used_up: Type.Boolean(),
  resets_at: Timestamp(),
})

const JobStates = {
  waiting: Count('Due.'),
  delayed: Count('Jobs that are not yet due, or are waiting for a retry.'),
  running: Count(),
  dead: Count('Jobs that failed permanently.'),
}

const AdminKey = Type.Object({
  use: Words(['statement', 'publication', 'short-url', 'log']),
  id: Type.String({
    description: 'For a statement key its key id, for the log its verifier key, for others the public key.',
  }),
  status: Words(['active', 'retired', 'revoked']),
  valid_from: OrNull(Timestamp('Null for keys whose age the gateway does not record.')),
  valid_to: OrNull(Timestamp()),
  age_seconds: OrNull(Count('Since `valid_from`.')),
})

const FeedPrice = Type.Object({
  symbol: Type.String(),
  state: Words(['ok', 'last_price', 'configured', 'missing', 'not_asked']),
  usd: OrNull(Type.String({ description: 'The price that quotes currently use.' })),
  as_of: OrNull(Timestamp('When the price was published.')),
  age_seconds: OrNull(Count()),
})

const PriceFeed = Type.Object(
  {
    state: Words(['ok', 'degraded', 'failing', 'disabled']),
    prices: Type.Array(FeedPrice),
  },
  {
    title: 'PriceFeed',
    description:
      '`last_price` and `configured` replace a price that the feed does not return. A coin with a `missing` price is not offered. `disabled`: no offered asset needs a price.',
  },
)
export type PriceFeed = Static<typeof PriceFeed>

export const AdminOverview = Type.Object(
  {
    lockers: Count('The number of lockers opened.'),
    frozen: Count(),
    taken_down: Count(),
    files: Count(),
    bytes: Count('The size of all files, confirmed or not.'),
    purchases: Count('Receipts, renewals included.'),
    price_usd_total: Usd('The sum of the quoted prices of all purchases.'),
    counted_at: Timestamp('When the numbers above were counted. They are counted periodically, not on each request.'),
    attestations: Type.Pick(AttestHealth, ['counts', 'oldest_nonfinal_age_sec', 'nonfinal_unknown_age']),
    anchors: OrNull(AttestHealth.properties.anchors),
    budgets: Type.Array(AdminBudget),
    jobs: Type.Object({ ...JobStates, by_kind: Type.Record(Type.String(), Type.Object(JobStates)) }),
    providers: Type.Array(Type.Object({ provider: Type.String(), healthy: Type.Boolean() })),
    chains: Type.Array(Type.Object({ network: Type.String(), state: Words(['ok', 'failing', 'disabled']) })),
    keys: Type.Array(AdminKey),
    price_feed: PriceFeed,
    warnings: Type.Array(Type.String(), { description: 'As on /health.' }),
    time: Timestamp(),
  },
  { title: 'AdminOverview' },
)
export type AdminOverview = Static<typeof AdminOverview>

export const adminOverview = endpoint({
  ...reading,
  name: 'adminOverview',
  path: `${BASE}/overview`,
  summary: 'An overview of the business and its health',
  responses: { 200: AdminOverview },
  errors: ['INTERNAL_AUTH_REQUIRED'],
})

const RouteTimes = Type.Object({
  method: Type.String(),
  route: Type.String(),
  requests: Count(),
  server_errors: Count('Answers of 500 and above.'),
  mean_ms: Type.Number(),
  p50_ms: Type.Number({ description: 'An upper bound from a histogram, like the other percentiles.' }),
  p95_ms: Type.Number(),
  p99_ms: Type.Number(),
})

export const SlowRoutes = Type.Object(
  {
    routes: Type.Array(RouteTimes, {
      description: 'Sorted by p95, slowest first. Counted since the processes started.',
    }),
  },
  { title: 'SlowRoutes' },
)
export type SlowRoutes = Static<typeof SlowRoutes>

export const slowRoutes = endpoint({
  ...reading,
  name: 'slowRoutes',
  path: `${BASE}/slow-routes`,
  summary: 'The duration of requests, by route',
  query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })) }),
  responses: { 200: SlowRoutes },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})
