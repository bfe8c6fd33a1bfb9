// Quotes, prices and confirmation.

import { QUOTE_SCHEMA } from '@svc/protocol/names'
import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { Receipt } from './receipts.ts'
import { OrNull, Timestamp, Words } from './wire.ts'

export const PROVIDERS = ['gcs', 'mongodb', 'storj', 'arweave', 'filecoin', 'firestore'] as const
export const Provider = Words(PROVIDERS)
export type Provider = (typeof PROVIDERS)[number]

const Units = Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'How many units of storage.' })
const AtomicAmount = Type.String({ pattern: '^[1-9][0-9]*$', description: 'Atomic units of the asset.' })

export const OracleRate = Type.Object(
  { usd: Type.Number(), source: Words(['oracle', 'fallback']), as_of: Timestamp(), fallback: Type.Boolean() },
  { title: 'OracleRate' },
)
export type OracleRate = Static<typeof OracleRate>

const LegExtra = Type.Object({
  name: Type.String({ description: 'Ticker.' }),
  decimals: Type.Integer(),
  human_amount: Type.String({ description: 'The amount in display units.' }),
  pay_req_id: Type.String(),
  quote_schema: Type.Literal(QUOTE_SCHEMA),
  oracle_rate: Type.Optional(OracleRate),
  version: Type.Optional(Type.String({ description: "The token's EIP-712 domain version." })),
  paymentFlow: Type.Optional(Type.String()),
  assetTransferMethod: Type.Optional(Type.String()),
  memo: Type.Optional(Type.String({ description: 'Put this into the payment, so that it can pay this quote only.' })),
})

export const PaymentLeg = Type.Object(
  {
    scheme: Type.Literal('exact'),
    network: Type.String({ description: 'CAIP-2 id.' }),
    amount: AtomicAmount,
    asset: Type.String({ description: 'Token mint or contract; the all-zero address is the native coin.' }),
    payTo: Type.String({ description: 'Where to pay; for tokens of the primary chain, the token account.' }),
    maxTimeoutSeconds: Type.Integer(),
    extra: LegExtra,
  },
  { title: 'PaymentLeg' },
)
export type PaymentLeg = Static<typeof PaymentLeg>

export const Terms = Type.Object(
  {
    storage_limit_bytes: Type.Integer(),
    file_limit: Type.Integer(),
    egress_included_bytes: Type.Integer(),
    ttl_days: Type.Integer(),
    storage: Type.Optional(
      Type.Literal('gateway', {
        description: "The files are on the gateway's own disk, not at the provider of that name.",
      }),
    ),
  },
  { title: 'Terms' },
)
export type Terms = Static<typeof Terms>

const QuoteTerms = Type.Object({
  ...Terms.properties,
  quote_expires_at: Timestamp(),
  environment: Type.Optional(Type.Literal('development')),
})

const LegacyQuote = Type.Object(
  {
    pay_req_id: Type.String(),
    pay_to_address: Type.String(),
    pay_network: Type.String(),
    pay_asset: Type.String(),
    amount_raw: AtomicAmount,
    amount_sol: OrNull(Type.String()),
    amount_lamports: OrNull(Type.String()),
    amount_wei: OrNull(Type.String()),
  },
  { description: 'The default leg in the form of older quotes.' },
)

export const Quote = Type.Object(
  {
    x402Version: Type.Literal(2),
    resource: Type.Object({ url: Type.String(), description: Type.String(), mimeType: Type.String() }),
    accepts: Type.Array(PaymentLeg),
    error: Type.String(),
    extensions: Type.Object({
      svc: Type.Object({
        terms: QuoteTerms,
        instructions: Type.Object({
          steps: Type.Array(Type.String()),
          confirm_url: Type.String(),
          cli_example: Type.String(),
        }),
        price_summary: Type.Object({
          unit_price_usd: Type.Number(),
          units: Units,
          total_usd: Type.Number(),
          provider: Provider,
        }),
        legacy: LegacyQuote,
        info: Type.Object({
          flow: Type.String(),
          confirm_url: Type.String(),
          confirm_header: Type.String(),
          pay_req_id: Type.String(),
          expires_at: Timestamp(),
        }),
        schema: Type.Object({}, { additionalProperties: true, description: 'JSON Schema of `info`.' }),
      }),
    }),
  },
  { title: 'Quote' },
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

const LegChoice = {
  pay_network: Type.Optional(Type.String({ description: 'Friendly name or CAIP-2 id.' })),
  pay_asset: Type.Optional(Type.String({ description: 'Ticker.' })),
}

const NO_STORE = { 'cache-control': 'no-store' }

export const requestStorage = endpoint({
  name: 'requestStorage',
  method: 'POST',
  path: '/v1/storage/request',
  auth: 'public',
  summary: 'Ask for a quote; the answer is 402 with what to pay',
  body: Type.Object({ units: Units, provider: Type.Optional(Provider), ...LegChoice }),
  responses: { 402: Quote },
  headers: NO_STORE,
  errors: ['leg_not_in_quote', 'idempotency_conflict', 'chain_unavailable', 'RATE_LIMITED', 'validation_error'],
})

export const confirmStorage = endpoint({
  name: 'confirmStorage',
  method: 'POST',
  path: '/v1/storage/confirm',
  auth: 'public',
  summary: 'Show the transaction that paid a quote, get the receipt',
  body: Type.Object({
    pay_req_id: Type.String(),
    tx_sig: Type.Optional(Type.String({ description: 'Where the header X402-TX cannot be sent.' })),
    ...LegChoice,
    payment_chain: Type.Optional(Type.String({ description: 'Another name of pay_network.' })),
    payment_asset: Type.Optional(Type.String({ description: 'Another name of pay_asset.' })),
  }),
  responses: { 200: Confirmation },
  headers: NO_STORE,
  errors: [
    'RATE_LIMITED',
    'tx_required',
    'tx_not_found',
    'payment_verification_failed',
    'pay_req_not_found',
    'quote_expired',
    'leg_not_in_quote',
    'leg_incomplete',
    'chain_unavailable',
    'validation_error',
  ],
})

export const price = endpoint({
  name: 'price',
  method: 'GET',
  path: '/v1/price',
  auth: 'public',
  summary: 'What storage costs now, on every chain',
  query: Type.Object({ units: Type.Optional(Units), provider: Type.Optional(Provider), ...LegChoice }),
  responses: { 200: Price },
  errors: ['leg_not_in_quote', 'chain_unavailable', 'validation_error'],
})
