// Payments that matched no quote, or that no receipt accounts for, and their refunds.

import Type, { type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { Receipt } from '../receipts.ts'
import { OrNull, Timestamp, Words } from '../wire.ts'
import { ACT_ERRORS, Amount, acting, BASE, Changed, Reason, reading } from './admin-endpoint.ts'

const PaymentRefund = Type.Object({
  amount_raw: Amount('The amount in atomic units of the asset.'),
  asset: Type.String(),
  refund_tx: OrNull(
    Type.String({ description: 'The transaction that paid it back. Null if the refund is decided but not yet sent.' }),
  ),
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
        received_raw: Amount('The amount that reached the treasury.'),
        received_amount: Type.String({ description: 'The same amount in display units.' }),
        payer: Type.String(),
        block_time: OrNull(Timestamp()),
        references: Type.Array(Type.String(), { description: 'The references of quotes in the memo or calldata.' }),
        claimed_raw: Amount('The amount that receipts account for, in this asset.'),
        refunded_raw: Amount('The amount refunded, in this asset.'),
      }),
    ),
    claimed_raw: Amount('The amount that receipts account for.'),
    receipts: Type.Array(Receipt),
    refund: OrNull(PaymentRefund),
    refunds: Type.Array(PaymentRefund),
  },
  { title: 'AdminPayment' },
)
export type AdminPayment = Static<typeof AdminPayment>

const TX_PATTERN = '^(0[xX][0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$'

const Transaction = {
  network: Type.String({ maxLength: 100, description: 'The name of the network, as in a receipt.' }),
  tx: Type.String({
    pattern: TX_PATTERN,
    description: 'The signature or hash of the transaction. The case of a hash is ignored.',
  }),
}

export const adminPayment = endpoint({
  ...reading,
  name: 'adminPayment',
  path: `${BASE}/payments`,
  summary: 'What a transaction paid to the treasury, and what the payment was used for',
  query: Type.Object(Transaction),
  responses: { 200: AdminPayment },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

export const acceptedPayments = endpoint({
  ...reading,
  name: 'acceptedPayments',
  path: `${BASE}/payments/accepted`,
  summary: 'The receipts of all accepted payments, newest first',
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
    cursor: Type.Optional(Type.String({ maxLength: 200, pattern: '^[A-Za-z0-9_-]+$' })),
  }),
  responses: {
    200: Type.Object({ receipts: Type.Array(Receipt), next_cursor: Type.Optional(Type.String()) }),
  },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

export const UnclaimedPayment = Type.Object(
  {
    network: Type.String(),
    tx: Type.String(),
    asset: Type.String(),
    pay_req_id: Type.String({ description: 'The quote that the payment was made for.' }),
    reason: Words(['quote_already_paid', 'after_quote', 'amount_too_small', 'overpaid']),
    state: Type.Enum(['open', 'refund_decided', 'refunded', 'claimed'], {
      description:
        '`open`: part of the payment is unused. `refund_decided`: nothing is unused, but a refund has not been sent yet.',
    }),
    payer: Type.String(),
    received_raw: Amount('The amount that reached the treasury.'),
    received_amount: Type.String({ description: 'The same amount in display units.' }),
    claimed_raw: Amount('The amount that receipts account for so far.'),
    refunded_raw: Amount('The amount refunded.'),
    left_raw: Amount('The amount that is neither used nor refunded.'),
    refunds: Type.Array(PaymentRefund),
    receipt: OrNull(
      Type.Object(
        { receipt_id: Type.String(), network: Type.String(), tx: Type.String() },
        { description: 'The state of the quote, and what paid it.' },
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
  summary: 'List payments of known quotes that receipts do not fully account for, newest first',
  query: Type.Object({
    state: Type.Optional(
      Type.Enum(['due', 'all'], {
        default: 'due',
        description: '`due`: payments that should be refunded in whole or in part.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
    cursor: Type.Optional(Type.String({ maxLength: 400, pattern: '^[A-Za-z0-9_-]+$' })),
  }),
  responses: {
    200: Type.Object({
      payments: Type.Array(UnclaimedPayment),
      next_cursor: Type.Optional(
        Type.String({ description: 'More may follow, even if this page has fewer entries than `limit`.' }),
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
  summary: 'Use a payment that came too late, was too small or named another quote to pay a quote',
  body: Type.Object({
    ...Transaction,
    asset: Type.String({ maxLength: 20, description: 'The ticker of the asset that was paid.', examples: ['USDC'] }),
    pay_req_id: Type.String({ maxLength: 100 }),
    accept_less: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Accept the payment even if it is less than the price of the quote.',
      }),
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
  summary: 'Record a refund and, once it is sent, its transaction; this call moves no money',
  body: Type.Object({
    ...Transaction,
    asset: Type.String({ maxLength: 20, description: 'The ticker of the asset that was paid.', examples: ['USDC'] }),
    amount_raw: Amount('The amount to pay back, in atomic units.'),
    refund_tx: Type.Optional(
      Type.String({
        pattern: TX_PATTERN,
        description:
          'The transaction that paid it back. A request with the same asset and amount refers to the recorded refund, unless it names another transaction.',
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
