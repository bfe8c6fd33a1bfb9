// Payments that matched no quote, or that no receipt accounts for.

import Type, { type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { Receipt } from '../receipts.ts'
import { OrNull, Timestamp, Words } from '../wire.ts'
import { ACT_ERRORS, Amount, acting, BASE, Changed, Reason, reading } from './admin-endpoint.ts'

const PaymentRefund = Type.Object({
  amount_raw: Amount('In atomic units of the asset.'),
  asset: Type.String(),
  refund_tx: OrNull(Type.String({ description: 'The transaction that paid it back. Null: decided, not yet sent.' })),
  decided_by: Type.String(),
  decided_at: Timestamp(),
  reason: Type.String(),
})

export const AdminPayment = Type.Object(
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
        claimed_raw: Amount('What receipts account for, in this asset.'),
        refunded_raw: Amount('What is refunded, in this asset.'),
      }),
    ),
    claimed_raw: Amount('What receipts account for.'),
    receipts: Type.Array(Receipt),
    refund: OrNull(PaymentRefund),
    refunds: Type.Array(PaymentRefund),
  },
  { title: 'AdminPayment' },
)
export type AdminPayment = Static<typeof AdminPayment>

const TX_PATTERN = '^(0[xX][0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$'

const Transaction = {
  network: Type.String({ maxLength: 100, description: 'Its name, as in a receipt.' }),
  tx: Type.String({
    pattern: TX_PATTERN,
    description: 'Signature or hash; a hash in any case.',
  }),
}

export const adminPayment = endpoint({
  ...reading,
  name: 'adminPayment',
  path: `${BASE}/payments`,
  summary: 'What a transaction paid to the treasury, and what it was used for',
  query: Type.Object(Transaction),
  responses: { 200: AdminPayment },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

export const UnclaimedPayment = Type.Object(
  {
    network: Type.String(),
    tx: Type.String(),
    asset: Type.String(),
    pay_req_id: Type.String({ description: 'The quote that it was made for.' }),
    reason: Words(['quote_already_paid', 'after_quote', 'amount_too_small', 'overpaid']),
    state: Type.Enum(['open', 'refund_decided', 'refunded', 'claimed'], {
      description: '`open`: some of it is left. `refund_decided`: nothing is left, and a refund is not sent yet.',
    }),
    payer: Type.String(),
    received_raw: Amount('That reached the treasury.'),
    received_amount: Type.String({ description: 'In display units.' }),
    claimed_raw: Amount('What receipts account for by now.'),
    refunded_raw: Amount('What is refunded.'),
    left_raw: Amount('What neither accounts for.'),
    refunds: Type.Array(PaymentRefund),
    receipt: OrNull(
      Type.Object(
        { receipt_id: Type.String(), network: Type.String(), tx: Type.String() },
        { description: 'Of the quote, and what paid it.' },
      ),
    ),
    noted_at: Timestamp(),
  },
  { title: 'UnclaimedPayment' },
)
export type UnclaimedPayment = Static<typeof UnclaimedPayment>

export const unclaimedPayments = endpoint({
  ...reading,
  name: 'unclaimedPayments',
  path: `${BASE}/payments/unclaimed`,
  summary: 'Payments of known quotes that no receipt accounts for, or only in part, the newest first',
  query: Type.Object({
    state: Type.Optional(
      Type.Enum(['due', 'all'], {
        default: 'due',
        description: '`due`: those that are to be returned, in whole or part.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
    cursor: Type.Optional(Type.String({ maxLength: 400, pattern: '^[A-Za-z0-9_-]+$' })),
  }),
  responses: {
    200: Type.Object({
      payments: Type.Array(UnclaimedPayment),
      next_cursor: Type.Optional(
        Type.String({ description: 'More may follow, also where this page has fewer than `limit`.' }),
      ),
    }),
  },
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
    'logbook_unavailable',
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
    refund_tx: Type.Optional(
      Type.String({
        pattern: TX_PATTERN,
        description:
          'The transaction that paid it back. Without another one, an order of the same asset and amount means the refund that is recorded.',
      }),
    ),
    reason: Reason,
  }),
  responses: { 200: Type.Object({ ok: Type.Literal(true), changed: Changed, refund: PaymentRefund }) },
  errors: [
    ...ACT_ERRORS,
    'tx_not_found',
    'payment_verification_failed',
    'payment_already_used',
    'chain_unavailable',
    'logbook_unavailable',
  ],
})
