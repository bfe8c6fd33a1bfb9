// For the operator: what the business and its health look like, and what may be done by hand. Every internal caller may
// read; only identities that the operator has named may act, each time with a reason, and all of it is in the audit log.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { AttestHealth } from './internal-attestations.ts'
import { Receipt } from './receipts.ts'
import { Used } from './usage.ts'
import { NO_STORE, OrNull, Timestamp, Words } from './wire.ts'

const BASE = '/v1/internal/operations'

const reading = { method: 'GET', auth: 'internal', headers: NO_STORE } as const
const acting = { auth: 'internal', headers: NO_STORE } as const
const ACT_ERRORS = ['INTERNAL_AUTH_REQUIRED', 'ACTING_IDENTITY_REQUIRED', 'validation_error', 'RATE_LIMITED'] as const

const Count = (description?: string) => Type.Integer({ minimum: 0, ...(description && { description }) })
const Amount = (description: string) => Type.String({ pattern: '^(0|[1-9][0-9]*)$', description })
const Usd = (description: string) => Type.Number({ description })

/** Why somebody acts. It stands in the audit log for good. */
const Reason = Type.String({
  minLength: 3,
  maxLength: 500,
  pattern: '\\S',
  description: 'Why. It is kept in the audit log.',
})

const Changed = Type.Boolean({ description: 'False where this was done before: nothing happened now.' })

// Who is asking

export const OperatorIdentity = Type.Object(
  {
    identity: Type.String({ description: 'As the audit log names it.' }),
    kind: Words(['oidc', 'secret', 'development']),
    may_act: Type.Boolean({ description: 'Whether OPERATOR_ACTORS names this identity.' }),
  },
  { title: 'OperatorIdentity' },
)
export type OperatorIdentity = Static<typeof OperatorIdentity>

export const operatorIdentity = endpoint({
  ...reading,
  name: 'operatorIdentity',
  path: `${BASE}/identity`,
  summary: 'Who the caller is, and whether they may act',
  responses: { 200: OperatorIdentity },
  errors: ['INTERNAL_AUTH_REQUIRED'],
})

// Overview

const OperatorBudget = Type.Object({
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
  delayed: Count('Not yet due, or waiting for a retry.'),
  running: Count(),
  dead: Count('Failed for good.'),
}

const OperatorKey = Type.Object({
  use: Words(['statement', 'publication', 'short-url']),
  id: Type.String({ description: 'Of a statement key its key id; of the others the public key.' }),
  status: Words(['active', 'retired']),
  valid_from: OrNull(Timestamp('Null for keys whose age the gateway does not keep.')),
  valid_to: OrNull(Timestamp()),
  age_seconds: OrNull(Count('Since `valid_from`.')),
})

const FeedPrice = Type.Object({
  symbol: Type.String(),
  state: Words(['ok', 'last_price', 'configured', 'missing', 'not_asked']),
  usd: OrNull(Type.String({ description: 'What quotes reckon with now.' })),
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
      '`last_price` and `configured` stand in for a price that the feed does not tell; a coin that is `missing` is not sold. `disabled`: nothing that is sold needs a price.',
  },
)
export type PriceFeed = Static<typeof PriceFeed>

export const OperatorOverview = Type.Object(
  {
    lockers: Count('How many were opened.'),
    frozen: Count(),
    taken_down: Count(),
    files: Count(),
    bytes: Count('Of all files, confirmed or not.'),
    purchases: Count('Receipts, renewals included.'),
    price_usd_total: Usd('What all purchases were quoted at.'),
    counted_at: Timestamp('When the numbers above were counted; now and then, not at each request.'),
    attestations: Type.Pick(AttestHealth, ['counts', 'oldest_nonfinal_age_sec', 'nonfinal_unknown_age']),
    anchors: OrNull(AttestHealth.properties.anchors),
    budgets: Type.Array(OperatorBudget),
    jobs: Type.Object({ ...JobStates, by_kind: Type.Record(Type.String(), Type.Object(JobStates)) }),
    providers: Type.Array(Type.Object({ provider: Type.String(), healthy: Type.Boolean() })),
    chains: Type.Array(Type.Object({ network: Type.String(), state: Words(['ok', 'failing', 'disabled']) })),
    keys: Type.Array(OperatorKey),
    price_feed: PriceFeed,
    warnings: Type.Array(Type.String(), { description: 'As on /health.' }),
    time: Timestamp(),
  },
  { title: 'OperatorOverview' },
)
export type OperatorOverview = Static<typeof OperatorOverview>

export const operatorOverview = endpoint({
  ...reading,
  name: 'operatorOverview',
  path: `${BASE}/overview`,
  summary: 'The business and its health at a glance',
  responses: { 200: OperatorOverview },
  errors: ['INTERNAL_AUTH_REQUIRED'],
})

// Over time

const Range = {
  from: Type.Optional(Timestamp('From this time on.')),
  to: Type.Optional(Timestamp('Before this time; now by default.')),
}

const SalesPeriod = Type.Object(
  {
    start: Timestamp('Of the hour, the day or the week (from Monday on), in UTC.'),
    network: Type.String(),
    asset: Type.String({ description: 'Ticker.' }),
    provider: Type.String(),
    purchases: Count('Lockers sold.'),
    renewals: Count(),
    units: Count(),
    paid_raw: Amount('In atomic units of the asset.'),
    paid_amount: Type.String({ description: 'The same in display units.' }),
    price_usd: Usd('As it was quoted.'),
  },
  { title: 'SalesPeriod' },
)
export type SalesPeriod = Static<typeof SalesPeriod>

export const OperatorSales = Type.Object(
  {
    from: Timestamp(),
    to: Timestamp(),
    bucket: Words(['hour', 'day', 'week']),
    periods: Type.Array(SalesPeriod, { description: 'In order of time. Periods without a sale are left out.' }),
    uncounted: Count('Receipts that the next count will add; 0 but for the moment after a sale.'),
  },
  { title: 'OperatorSales' },
)
export type OperatorSales = Static<typeof OperatorSales>

export const operatorSales = endpoint({
  ...reading,
  name: 'operatorSales',
  path: `${BASE}/sales`,
  summary: 'Sales over time, by asset and provider',
  query: Type.Object({
    ...Range,
    bucket: Type.Optional(
      Type.Enum(['hour', 'day', 'week'], {
        default: 'day',
        description: 'At most 62 days by the hour, 3 years by the day and 20 years by the week.',
      }),
    ),
  }),
  responses: { 200: OperatorSales },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

const GrowthSample = Type.Object({
  at: Timestamp(),
  lockers: Count(),
  files: Count(),
  bytes: Count(),
  purchases: Count(),
})

export const OperatorGrowth = Type.Object(
  { from: Timestamp(), to: Timestamp(), samples: Type.Array(GrowthSample, { description: 'In order of time.' }) },
  { title: 'OperatorGrowth' },
)
export type OperatorGrowth = Static<typeof OperatorGrowth>

export const operatorGrowth = endpoint({
  ...reading,
  name: 'operatorGrowth',
  path: `${BASE}/growth`,
  summary: 'Lockers, files and bytes over time: hourly for 90 days, daily before',
  query: Type.Object(Range),
  responses: { 200: OperatorGrowth },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

// Exports

export const treasuryStatement = endpoint({
  ...reading,
  name: 'treasuryStatement',
  path: `${BASE}/treasury-statement`,
  summary: 'What came in and what was refunded, one line each, as CSV in order of time',
  query: Type.Object(Range),
  responses: { 200: Type.String() },
  contentType: 'text/csv; charset=utf-8',
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

export const exportReceipts = endpoint({
  ...reading,
  name: 'exportReceipts',
  path: `${BASE}/receipts`,
  summary: 'All receipts in order of time, as CSV or as lines of JSON',
  query: Type.Object({
    ...Range,
    format: Type.Optional(Type.Enum(['csv', 'jsonl'], { default: 'jsonl' })),
  }),
  responses: { 200: Type.String() },
  contentType: 'application/x-ndjson; charset=utf-8',
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

// Jobs

const JobState = Words(['waiting', 'delayed', 'running', 'dead'])

const JobFacts = {
  job_id: Type.String(),
  kind: Type.String(),
  state: JobState,
  attempts: Count('Runs begun.'),
  due_at: OrNull(Timestamp('When it runs; null for jobs that run or are dead.')),
  failed_at: OrNull(Timestamp('Of a dead job.')),
  error: OrNull(Type.String({ description: 'Of a dead job: why its last run failed.' })),
}

export const OperatorJob = Type.Object(JobFacts, { title: 'OperatorJob' })
export type OperatorJob = Static<typeof OperatorJob>

export const OperatorJobDetails = Type.Object(
  {
    ...JobFacts,
    key: OrNull(Type.String({ description: 'While a job of the same kind and key waits, no other is added.' })),
    payload: Type.Record(Type.String(), Type.Unknown(), { description: 'What it works on, without secrets.' }),
  },
  { title: 'OperatorJobDetails' },
)
export type OperatorJobDetails = Static<typeof OperatorJobDetails>

export const operatorJobs = endpoint({
  ...reading,
  name: 'operatorJobs',
  path: `${BASE}/jobs`,
  summary: 'Jobs in one state: dead ones with the newest first, others with the next due first',
  query: Type.Object({
    state: Type.Optional(Type.Enum(['waiting', 'delayed', 'running', 'dead'], { default: 'dead' })),
    kind: Type.Optional(Type.String({ maxLength: 100 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
    cursor: Type.Optional(Type.String({ maxLength: 200, pattern: '^[A-Za-z0-9_-]+$' })),
  }),
  responses: {
    200: Type.Object({ jobs: Type.Array(OperatorJob), next_cursor: Type.Optional(Type.String()) }),
  },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

const JobPath = Type.Object({ job_id: Type.String({ maxLength: 100 }) })

export const operatorJob = endpoint({
  ...reading,
  name: 'operatorJob',
  path: `${BASE}/jobs/{job_id}`,
  summary: 'One job: what it works on, and why it failed',
  params: JobPath,
  responses: { 200: OperatorJobDetails },
  errors: ['INTERNAL_AUTH_REQUIRED', 'job_not_found', 'validation_error'],
})

export const retryJob = endpoint({
  ...acting,
  name: 'retryJob',
  method: 'POST',
  repeatable: true,
  path: `${BASE}/jobs/{job_id}/retry`,
  summary: 'Enqueue a dead job again; once, however often this is sent',
  params: JobPath,
  body: Type.Object({ reason: Reason }),
  responses: {
    200: Type.Object({
      ok: Type.Literal(true),
      changed: Changed,
      job_id: OrNull(Type.String({ description: 'Of the new job. Null: one that does the same waits already.' })),
    }),
  },
  errors: [...ACT_ERRORS, 'job_not_found'],
})

export const deleteJob = endpoint({
  ...acting,
  name: 'deleteJob',
  method: 'POST',
  repeatable: true,
  path: `${BASE}/jobs/{job_id}/delete`,
  summary: 'Delete a dead job: what it was to do is given up',
  params: JobPath,
  body: Type.Object({ reason: Reason }),
  responses: { 200: Type.Object({ ok: Type.Literal(true), changed: Changed }) },
  errors: [...ACT_ERRORS, 'job_not_found'],
})

// Routes

const RouteTimes = Type.Object({
  method: Type.String(),
  route: Type.String(),
  requests: Count(),
  server_errors: Count('Answers of 500 and above.'),
  mean_ms: Type.Number(),
  p50_ms: Type.Number({ description: 'At most, as the other percentiles: the bound of a histogram.' }),
  p95_ms: Type.Number(),
  p99_ms: Type.Number(),
})

export const SlowRoutes = Type.Object(
  { routes: Type.Array(RouteTimes, { description: 'The slowest by p95 first. Since the processes started.' }) },
  { title: 'SlowRoutes' },
)
export type SlowRoutes = Static<typeof SlowRoutes>

export const slowRoutes = endpoint({
  ...reading,
  name: 'slowRoutes',
  path: `${BASE}/slow-routes`,
  summary: 'How long requests take, by route',
  query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })) }),
  responses: { 200: SlowRoutes },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

// Lockers

const OperatorRestriction = Type.Object({
  state: Words(['frozen', 'taken_down']),
  since: Timestamp(),
  notice: OrNull(Type.String({ description: 'What its owner is told.' })),
})

const OperatorLockerFacts = {
  locker_id: Type.String(),
  receipt_id: Type.String(),
  owner: Type.String(),
  operators: Type.Array(Type.String()),
  network: Type.String(),
  provider: Type.String(),
  file_count: Count(),
  total_bytes: Count('Of all files, confirmed or not.'),
  created_at: Timestamp(),
  expires_at: Timestamp(),
  ended: Type.Boolean(),
  restriction: OrNull(OperatorRestriction),
}

export const OperatorLocker = Type.Object(OperatorLockerFacts, { title: 'OperatorLocker' })
export type OperatorLocker = Static<typeof OperatorLocker>

export const findLockers = endpoint({
  ...reading,
  name: 'findLockers',
  path: `${BASE}/lockers`,
  summary: 'Lockers by locker id, receipt id, transaction, or wallet of the owner or an operator; the newest first',
  query: Type.Object({
    q: Type.String({ minLength: 3, maxLength: 200 }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
    cursor: Type.Optional(Type.String({ maxLength: 200, pattern: '^[A-Za-z0-9_-]+$' })),
  }),
  responses: {
    200: Type.Object({ lockers: Type.Array(OperatorLocker), next_cursor: Type.Optional(Type.String()) }),
  },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

// The audit log

const AuditEntry = Type.Object(
  {
    sequence: Type.Integer({ minimum: 1 }),
    at: Timestamp(),
    actor: Type.String(),
    action: Words([
      'retry_job',
      'delete_job',
      'freeze_locker',
      'unfreeze_locker',
      'take_down_locker',
      'restrict_locker',
      'attach_payment',
      'refund_payment',
    ]),
    target: Type.String({ description: 'The job, locker or transaction.' }),
    outcome: Words(['done', 'refused']),
    reason: Type.String(),
    details: Type.Record(Type.String(), Type.Unknown()),
    previous_hash: Type.String(),
    hash: Type.String({ description: 'SHA-256, hex, over everything above.' }),
  },
  { title: 'AuditEntry' },
)
export type AuditEntry = Static<typeof AuditEntry>

export const AuditLog = Type.Object(
  {
    entries: Type.Array(AuditEntry, { description: 'The newest first.' }),
    next_cursor: Type.Optional(Type.String()),
    chain: Type.Object({
      intact: Type.Boolean({ description: 'Whether every entry follows from the one before.' }),
      entries: Count(),
      head: OrNull(Type.String({ description: 'Sequence and hash of the last entry. Keep it elsewhere.' })),
      broken_at: OrNull(Type.Integer({ description: 'The first entry that is changed, missing or out of place.' })),
    }),
  },
  { title: 'AuditLog' },
)
export type AuditLog = Static<typeof AuditLog>

export const auditLog = endpoint({
  ...reading,
  name: 'auditLog',
  path: `${BASE}/audit`,
  summary: 'What was done by hand, by whom and why; also attempts that were refused',
  query: Type.Object({
    target: Type.Optional(
      Type.String({ maxLength: 200, description: 'Only entries about this job, locker or payment.' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
    cursor: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,14}$' })),
  }),
  responses: { 200: AuditLog },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

export const OperatorLockerDetails = Type.Object(
  {
    ...OperatorLockerFacts,
    bytes: Used('Of all files, confirmed or not.'),
    files: Used('Entries of the manifest.'),
    egress: Used('Bytes sent by the public link and short URLs, about.'),
    public_link: Words(['open', 'closed']),
    audit: Type.Array(AuditEntry, { description: 'The newest 100 that are about this locker.' }),
  },
  { title: 'OperatorLockerDetails' },
)
export type OperatorLockerDetails = Static<typeof OperatorLockerDetails>

const LockerPath = Type.Object({ locker_id: Type.String({ maxLength: 100 }) })

export const operatorLocker = endpoint({
  ...reading,
  name: 'operatorLocker',
  path: `${BASE}/lockers/{locker_id}`,
  summary: 'One locker, and what was done to it by hand',
  params: LockerPath,
  responses: { 200: OperatorLockerDetails },
  errors: ['INTERNAL_AUTH_REQUIRED', 'locker_not_found', 'validation_error'],
})

export const restrictLocker = endpoint({
  ...acting,
  name: 'restrictLocker',
  method: 'PUT',
  path: `${BASE}/lockers/{locker_id}/restriction`,
  summary: 'Freeze a locker (no writes, no new links), take it down (its bytes are not served), or lift that',
  params: LockerPath,
  body: Type.Object({
    restriction: Words(['none', 'frozen', 'taken_down']),
    reason: Reason,
    notice: Type.Optional(Type.String({ maxLength: 500, description: 'What its owner is told.' })),
  }),
  responses: {
    200: Type.Object({ ok: Type.Literal(true), changed: Changed, locker: OperatorLocker }),
  },
  errors: [...ACT_ERRORS, 'locker_not_found'],
})

// Payments

const PaymentRefund = Type.Object({
  amount_raw: Amount('In atomic units of the asset.'),
  asset: Type.String(),
  refund_tx: OrNull(Type.String({ description: 'The transaction that paid it back. Null: decided, not yet sent.' })),
  decided_by: Type.String(),
  decided_at: Timestamp(),
  reason: Type.String(),
})

export const OperatorPayment = Type.Object(
  {
    network: Type.String(),
    tx: Type.String(),
    chain: Words(['found', 'not_found', 'unavailable']),
    arrivals: Type.Array(
      Type.Object({
        asset: Type.String(),
        received_raw: Amount('That reached the treasury.'),
        received_amount: Type.String({ description: 'In display units.' }),
        payer: Type.String(),
        block_time: OrNull(Timestamp()),
        references: Type.Array(Type.String(), { description: 'Names of quotes in the memo or calldata.' }),
      }),
    ),
    claimed_raw: Amount('What receipts account for.'),
    receipts: Type.Array(Receipt),
    refund: OrNull(PaymentRefund),
  },
  { title: 'OperatorPayment' },
)
export type OperatorPayment = Static<typeof OperatorPayment>

const Transaction = {
  network: Type.String({ maxLength: 100, description: 'Its name, as in a receipt.' }),
  tx: Type.String({
    pattern: '^(0[xX][0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$',
    description: 'Signature or hash; a hash in any case.',
  }),
}

export const operatorPayment = endpoint({
  ...reading,
  name: 'operatorPayment',
  path: `${BASE}/payments`,
  summary: 'What a transaction paid to the treasury, and what it was used for',
  query: Type.Object(Transaction),
  responses: { 200: OperatorPayment },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

export const attachPayment = endpoint({
  ...acting,
  name: 'attachPayment',
  method: 'POST',
  repeatable: true,
  path: `${BASE}/payments/attach`,
  summary: 'Let a payment that came too late, was too small or named another quote pay a quote',
  body: Type.Object({
    ...Transaction,
    asset: Type.String({ maxLength: 20, description: 'Ticker: what was paid.', examples: ['USDC'] }),
    pay_req_id: Type.String({ maxLength: 100 }),
    accept_less: Type.Optional(
      Type.Boolean({ default: false, description: 'Also where less arrived than the quote asks for.' }),
    ),
    reason: Reason,
  }),
  responses: { 200: Type.Object({ ok: Type.Literal(true), changed: Changed, receipt: Receipt }) },
  errors: [
    ...ACT_ERRORS,
    'pay_req_not_found',
    'leg_not_in_quote',
    'leg_incomplete',
    'tx_not_found',
    'payment_verification_failed',
    'payment_already_used',
    'chain_unavailable',
  ],
})

export const refundPayment = endpoint({
  ...acting,
  name: 'refundPayment',
  method: 'POST',
  repeatable: true,
  path: `${BASE}/payments/refund`,
  summary: 'Record that a payment is refunded, and by which transaction once it is sent; no money moves by this',
  body: Type.Object({
    ...Transaction,
    asset: Type.String({ maxLength: 20, description: 'Ticker: what was paid.', examples: ['USDC'] }),
    amount_raw: Amount('What is paid back, in atomic units.'),
    refund_tx: Type.Optional(Transaction.tx),
    reason: Reason,
  }),
  responses: { 200: Type.Object({ ok: Type.Literal(true), changed: Changed, refund: PaymentRefund }) },
  errors: [...ACT_ERRORS, 'tx_not_found', 'payment_verification_failed', 'payment_already_used', 'chain_unavailable'],
})
