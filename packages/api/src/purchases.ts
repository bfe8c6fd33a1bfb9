// Quotes, prices and confirmation.

import { QUOTE_SCHEMA } from '@svc/protocol/names'
import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { AtomicAmount, LegChoice, OracleRate, PayerSignature, PaymentHeaders, quoteOf } from './quote.ts'
import { Receipt } from './receipts.ts'
import { NO_STORE, OrNull, Provider, RESTRICTION_ERRORS, Timestamp } from './wire.ts'

const Units = Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'The number of units of storage.' })

export const Terms = Type.Object(
  {
    storage_limit_bytes: Type.Integer(),
    file_limit: Type.Integer(),
    egress_included_bytes: Type.Integer(),
    ttl_days: Type.Integer(),
    settled_limit_bytes: Type.Optional(
      Type.Integer({
        description:
          'For a provider that never removes data: the total bytes that are moved there, including overwritten and deleted files. Each file counts as at least 1,024 bytes, and identical bytes count once. The gateway itself stores the rest.',
      }),
    ),
    enforced: Type.Optional(
      Type.Literal(true, {
        description: 'Writes beyond these terms are refused with 507. Reads and deletes still work.',
      }),
    ),
    storage: Type.Optional(
      Type.Literal('gateway', {
        description: "The files are on the gateway's own disk, not at the named provider.",
      }),
    ),
  },
  { title: 'Terms' },
)
export type Terms = Static<typeof Terms>

/** The terms of a locker after a purchase with `extends`. */
const Renewal = Type.Object(
  {
    receipt_id: Type.String({ description: 'The receipt of the locker.' }),
    locker_id: Type.String(),
    storage_limit_bytes: Type.Integer(),
    file_limit: Type.Integer(),
    egress_included_bytes: Type.Integer(),
    expires_at: Timestamp(),
  },
  {
    title: 'Renewal',
    description:
      'The terms of the locker once this is paid. The remaining and the bought byte-days are added up and used at the larger of both sizes, unless the term would then end earlier.',
  },
)
export type Renewal = Static<typeof Renewal>

export const Quote = quoteOf(
  'Quote',
  Terms.properties,
  {
    unit_price_usd: Type.Number(),
    units: Units,
    total_usd: Type.Number(),
    provider: Provider,
  },
  { renewal: Type.Optional(Renewal) },
)
export type Quote = Static<typeof Quote>

export const Confirmation = Type.Object(
  {
    ok: Type.Literal(true),
    receipt_id: Type.String(),
    receipt: Receipt,
    idempotent: Type.Boolean(),
    paid_amount: Type.String(),
    paid_raw: Type.String(),
    pay_asset: Type.String(),
    network: Type.String(),
    locker_id: Type.Optional(
      OrNull(
        Type.String({
          description:
            'The open locker, if the payer only signed the payment and the gateway sent it. Null if the locker could not be opened; the receipt remains valid.',
        }),
      ),
    ),
  },
  { title: 'Confirmation' },
)
export type Confirmation = Static<typeof Confirmation>

const PriceEntry = Type.Object(
  {
    network: Type.String(),
    pay_network: Type.String(),
    pay_asset: Type.String(),
    asset: Type.String(),
    amount: AtomicAmount,
    decimals: Type.Integer(),
    human_amount: Type.String(),
    oracle_rate: Type.Optional(OracleRate),
  },
  { title: 'PriceEntry' },
)

export const Price = Type.Object(
  {
    quote_schema: Type.Literal(QUOTE_SCHEMA),
    units: Units,
    provider: Provider,
    unit_price_usd: Type.Number(),
    total_usd: Type.Number(),
    amounts: Type.Array(PriceEntry),
    providers: Type.Record(Type.String(), Type.Object({ unit_price_usd: Type.Number(), terms: Terms })),
  },
  { title: 'Price' },
)
export type Price = Static<typeof Price>

export const Extends = Type.Optional(
  Type.String({
    pattern: '^rcpt_[0-9a-f]{32}$',
    description:
      "The receipt of a locker that the purchase extends, instead of paying for a new one. Anyone may pay. The provider is the locker's.",
  }),
)

export const requestStorage = endpoint({
  name: 'requestStorage',
  method: 'POST',
  repeatable: 'with-once-header',
  // The payment credential of a paid quote only reads its receipt.
  whileBehind: 'served',
  path: '/v1/storage/request',
  auth: 'public',
  summary: 'Request a quote; answers 402 with the quote, or the receipt if a payment credential is sent',
  requestHeaders: Type.Object({
    'Idempotency-Key': Type.Optional(
      Type.String({
        pattern: '^[\\x21-\\x7e]{1,255}$',
        description:
          'The same key with the same body returns the same quote for a day. Use a random UUID or 32 random hexadecimal digits: any other key works only from the same client address.',
      }),
    ),
    ...PaymentHeaders,
  }),
  body: Type.Object({ units: Units, provider: Type.Optional(Provider), extends: Extends, ...LegChoice }),
  responses: { 200: Confirmation, 402: Quote },
  paymentMethods: ['solana', 'evm'],
  paymentProblems: true,
  headers: NO_STORE,
  errors: [
    'payment_credential_invalid',
    'payment_verification_failed',
    'tx_not_found',
    'quote_expired',
    'leg_not_in_quote',
    'signed_payment_not_taken',
    'idempotency_conflict',
    'receipt_not_found',
    'locker_not_found',
    'receipt_is_renewal',
    ...RESTRICTION_ERRORS,
    'chain_unavailable',
    'database_behind',
    'STORAGE_UNAVAILABLE',
    'RATE_LIMITED',
    'validation_error',
  ],
})

export const confirmStorage = endpoint({
  name: 'confirmStorage',
  method: 'POST',
  // A repeated confirmation returns the same receipt.
  repeatable: true,
  // For a paid quote, the operation only reads its receipt.
  whileBehind: 'served',
  path: '/v1/storage/confirm',
  auth: 'public',
  summary: 'Confirm the transaction that paid a quote, and get the receipt',
  requestHeaders: Type.Object({
    'X402-TX': Type.Optional(Type.String({ description: 'The transaction that paid. Takes precedence over tx_sig.' })),
    Authorization: PaymentHeaders.Authorization,
  }),
  body: Type.Object({
    pay_req_id: Type.String(),
    tx_sig: Type.Optional(Type.String({ description: 'For clients that cannot send the header X402-TX.' })),
    payer_signature: PayerSignature,
    ...LegChoice,
    payment_chain: Type.Optional(Type.String({ description: 'An alias of pay_network.' })),
    payment_asset: Type.Optional(Type.String({ description: 'An alias of pay_asset.' })),
  }),
  responses: { 200: Confirmation },
  paymentProblems: true,
  headers: NO_STORE,
  errors: [
    'RATE_LIMITED',
    'tx_required',
    'payment_credential_invalid',
    'tx_not_found',
    'payment_verification_failed',
    'pay_req_not_found',
    'locker_not_found',
    'quote_expired',
    'leg_not_in_quote',
    'leg_incomplete',
    'chain_unavailable',
    'database_behind',
    'logbook_unavailable',
    'validation_error',
  ],
})

export const price = endpoint({
  name: 'price',
  method: 'GET',
  path: '/v1/price',
  auth: 'public',
  summary: 'The current price of storage on every chain',
  query: Type.Object({
    units: Type.Optional(Type.Integer({ ...Units, default: 1 })),
    provider: Type.Optional(Provider),
    ...LegChoice,
  }),
  responses: { 200: Price },
  headers: NO_STORE,
  errors: ['leg_not_in_quote', 'chain_unavailable', 'STORAGE_UNAVAILABLE', 'validation_error'],
})
