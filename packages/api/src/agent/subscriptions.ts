// Subscriptions: the agent service sells thirty days of work.

import Type, { type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { LegChoice, PayerSignature, PaymentHeaders, quoteOf } from '../quote.ts'
import { Receipt } from '../receipts.ts'
import { NO_STORE, Timestamp, Words } from '../wire.ts'

export const SUBSCRIPTION_DAYS = 30

export const Identity = Type.String({
  minLength: 32,
  maxLength: 44,
  description: 'The wallet that pays and owns: an Ed25519 key in base58, or an EVM address with 0x.',
})

export const Subscription = Type.Object(
  {
    subscription_id: Type.String(),
    identity: Type.String(),
    status: Words(['active', 'expired']),
    starts_at: Timestamp(),
    expires_at: Timestamp(),
  },
  { title: 'Subscription' },
)
export type Subscription = Static<typeof Subscription>

export const SubscriptionQuote = quoteOf(
  'SubscriptionQuote',
  { subscription_days: Type.Literal(SUBSCRIPTION_DAYS) },
  { total_usd: Type.Number(), subscription_days: Type.Literal(SUBSCRIPTION_DAYS) },
  {},
)
export type SubscriptionQuote = Static<typeof SubscriptionQuote>

export const SubscriptionConfirmation = Type.Object(
  {
    ok: Type.Literal(true),
    idempotent: Type.Boolean(),
    receipt_id: Type.String(),
    receipt: Receipt,
    subscription: Subscription,
  },
  { title: 'SubscriptionConfirmation' },
)
export type SubscriptionConfirmation = Static<typeof SubscriptionConfirmation>

export const requestSubscription = endpoint({
  name: 'requestSubscription',
  method: 'GET',
  path: '/v1/service/request',
  auth: 'public',
  summary:
    'Request a quote for thirty days; answers 402 with the quote, or the receipt if a payment credential is sent',
  requestHeaders: Type.Object(PaymentHeaders),
  query: Type.Object(LegChoice),
  responses: { 200: SubscriptionConfirmation, 402: SubscriptionQuote },
  paymentMethods: ['solana', 'evm'],
  paymentProblems: true,
  headers: NO_STORE,
  errors: [
    'payment_credential_invalid',
    'payment_verification_failed',
    'tx_not_found',
    'quote_expired',
    'leg_not_in_quote',
    'chain_unavailable',
    'gateway_unavailable',
    'RATE_LIMITED',
    'validation_error',
  ],
})

export const confirmSubscription = endpoint({
  name: 'confirmSubscription',
  method: 'POST',
  // Each payment extends the subscription only once.
  repeatable: true,
  path: '/v1/service/confirm',
  auth: 'public',
  summary: 'Confirm the transaction that paid a quote; the subscription begins or is extended',
  requestHeaders: Type.Object({
    'X402-TX': Type.Optional(Type.String({ description: 'The transaction that paid.' })),
    'X-Svc-Identity': Identity,
  }),
  body: Type.Object({
    pay_req_id: Type.String(),
    tx_sig: Type.Optional(Type.String()),
    payer_signature: PayerSignature,
    ...LegChoice,
  }),
  responses: { 200: SubscriptionConfirmation },
  headers: NO_STORE,
  errors: [
    'RATE_LIMITED',
    'tx_required',
    'tx_not_found',
    'payment_verification_failed',
    'OWNER_IDENTITY_MISMATCH',
    'pay_req_not_found',
    'quote_expired',
    'leg_not_in_quote',
    'leg_incomplete',
    'chain_unavailable',
    'validation_error',
  ],
})
