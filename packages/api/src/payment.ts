// Paying from a browser page. A page may talk to its own gateway only, so the gateway tells it what a wallet has to know
// of a chain, and sends what the wallet has signed.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { NO_STORE, OrNull, RESTRICTION_ERRORS, Timestamp } from './wire.ts'

const Amount = Type.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'Atomic units.' })
const Height = Type.String({ pattern: '^(0|[1-9][0-9]{0,14})$' })
const Hex = Type.String({ pattern: '^0x[0-9a-f]*$' })
const PayReqId = Type.String({ maxLength: 100 })
const NetworkId = Type.String({ maxLength: 100, description: '`network` of a leg: a CAIP-2 id.' })
const Payer = Type.String({ maxLength: 100, description: 'The address of the wallet that pays.' })

const NetworkFee = Type.Object({
  amount: Amount,
  ticker: Type.String({ description: 'The coin of the chain.' }),
  decimals: Type.Integer(),
})

export const PaymentFacts = Type.Object(
  {
    fee: Type.Object(NetworkFee.properties, {
      description: 'The most that the network charges for the payment, besides its amount.',
    }),
    balances: OrNull(
      Type.Object(
        { asset: Amount, coin: Amount },
        { description: 'What the payer holds of the asset of the leg, and of the coin that the fee is paid in.' },
      ),
    ),
    objection: OrNull(
      Type.String({ description: 'Why the payer cannot pay the leg, worded to follow its address; null if it can.' }),
    ),
    solana: Type.Optional(
      Type.Object(
        { blockhash: Type.String(), last_valid_block_height: Height, slot: Height },
        { description: 'On the primary chain: until when a transaction made now can land.' },
      ),
    ),
    eip155: Type.Optional(
      Type.Object(
        {
          chain_id: Type.Integer(),
          to: Hex,
          value: Amount,
          data: Hex,
          gas: Amount,
          max_fee_per_gas: Amount,
          max_priority_fee_per_gas: Amount,
          nonce: OrNull(Type.Integer({ description: "The payer's next one." })),
          block: Height,
        },
        { description: 'On an EVM chain: the transaction that pays, unsigned, and the newest block.' },
      ),
    ),
  },
  { title: 'PaymentFacts' },
)
export type PaymentFacts = Static<typeof PaymentFacts>

const SentPayment = Type.Object({ tx: Type.String() }, { title: 'SentPayment' })

export const PaymentOutcome = Type.Object(
  {
    outcome: Type.Enum(['landed', 'failed', 'expired', 'pending'], {
      description:
        '`landed`: a block holds it. `failed` and `expired`: no money has moved, and none will by this transaction. `pending`: none of these is certain yet.',
    }),
  },
  { title: 'PaymentOutcome' },
)

export const FoundPayment = Type.Object(
  {
    payment: OrNull(
      Type.Object(
        { tx: Type.String(), pay_network: Type.String(), pay_asset: Type.String() },
        { description: 'What to confirm the quote with.' },
      ),
    ),
  },
  { title: 'FoundPayment' },
)
export type FoundPayment = Static<typeof FoundPayment>

const ERRORS = ['pay_req_not_found', 'quote_expired', 'chain_unavailable', 'RATE_LIMITED', 'validation_error'] as const

export const preparePayment = endpoint({
  name: 'preparePayment',
  method: 'POST',
  repeatable: true,
  path: '/v1/storage/payment/prepare',
  auth: 'public',
  summary: 'What a wallet has to know of the chain to pay a leg of a quote',
  body: Type.Object({
    pay_req_id: PayReqId,
    network: NetworkId,
    asset: Type.String({ maxLength: 100, description: '`asset` of the same leg.' }),
    payer: Type.Optional(
      Type.String({ ...Payer, description: 'The wallet that pays. Without it, only the fee is worked out.' }),
    ),
  }),
  responses: { 200: PaymentFacts },
  headers: NO_STORE,
  errors: ['leg_not_in_quote', 'payment_verification_failed', 'database_behind', ...RESTRICTION_ERRORS, ...ERRORS],
})

export const sendPayment = endpoint({
  name: 'sendPayment',
  method: 'POST',
  // The same bytes pay once.
  repeatable: true,
  path: '/v1/storage/payment/send',
  auth: 'public',
  summary: 'Send a signed transaction that pays a quote, and nothing else, to its chain',
  body: Type.Object({
    pay_req_id: PayReqId,
    transaction: Type.String({
      maxLength: 4096,
      pattern: '^(0x[0-9a-fA-F]+|[A-Za-z0-9+/]+={0,2})$',
      description: 'Signed: base64 of a transaction of the primary chain, or `0x` and hex of one of an EVM chain.',
    }),
  }),
  responses: { 200: SentPayment },
  headers: NO_STORE,
  errors: ['malformed_payment', 'payment_verification_failed', 'database_behind', ...RESTRICTION_ERRORS, ...ERRORS],
})

export const paymentOutcome = endpoint({
  name: 'paymentOutcome',
  method: 'POST',
  repeatable: true,
  whileBehind: 'served',
  path: '/v1/storage/payment/outcome',
  auth: 'public',
  summary: 'The outcome of a transaction that should pay a quote',
  body: Type.Object({
    pay_req_id: PayReqId,
    tx: Type.String({ maxLength: 100 }),
    payer: Payer,
    life: Type.Union(
      [Type.Object({ nonce: Height, block: Height }), Type.Object({ lastValidBlockHeight: Height, slot: Height })],
      { description: 'From the facts that the transaction was made with: of an EVM chain, or of the primary chain.' },
    ),
  }),
  responses: { 200: PaymentOutcome },
  headers: NO_STORE,
  errors: ERRORS,
})

export const WatchedPayment = Type.Object(
  {
    watched_until: OrNull(
      Timestamp(
        'Until then the gateway itself looks for the payment and makes the receipt. Null where it does not: it ' +
          'watches enough quotes already, or the quote is paid or has no leg on the primary chain. Then `find` looks.',
      ),
    ),
  },
  { title: 'WatchedPayment' },
)
export type WatchedPayment = Static<typeof WatchedPayment>

export const watchPayment = endpoint({
  name: 'watchPayment',
  method: 'POST',
  repeatable: true,
  path: '/v1/storage/payment/watch',
  auth: 'public',
  summary: 'Have the gateway look for the payment that a quote is paid with by its Solana Pay code',
  body: Type.Object({ pay_req_id: PayReqId }),
  responses: { 200: WatchedPayment },
  headers: NO_STORE,
  errors: ['pay_req_not_found', 'quote_expired', 'database_behind', 'RATE_LIMITED', 'validation_error'],
})

export const findPayment = endpoint({
  name: 'findPayment',
  method: 'POST',
  repeatable: true,
  whileBehind: 'served',
  path: '/v1/storage/payment/find',
  auth: 'public',
  summary: 'The transaction that paid a quote by its Solana Pay code, once the chain shows it',
  body: Type.Object({ pay_req_id: PayReqId }),
  responses: { 200: FoundPayment },
  headers: NO_STORE,
  errors: ERRORS,
})
