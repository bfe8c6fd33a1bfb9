// Paying from a browser page. A page may only send requests to its own gateway, so the gateway returns what a wallet
// needs to know about the chain, and sends the transaction that the wallet signed.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { NO_STORE, OrNull, RESTRICTION_ERRORS, Timestamp } from './wire.ts'

const Amount = Type.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'The amount in atomic units.' })
const Height = Type.String({ pattern: '^(0|[1-9][0-9]{0,14})$' })
const Hex = Type.String({ pattern: '^0x[0-9a-f]*$' })
const PayReqId = Type.String({ maxLength: 100 })
const NetworkId = Type.String({ maxLength: 100, description: 'The `network` of a leg: a CAIP-2 id.' })
const Payer = Type.String({ maxLength: 100, description: 'The address of the wallet that pays.' })

const NetworkFee = Type.Object({
  amount: Amount,
  ticker: Type.String({ description: 'The ticker of the native coin.' }),
  decimals: Type.Integer(),
})

export const PaymentFacts = Type.Object(
  {
    fee: Type.Object(NetworkFee.properties, {
      description: 'The maximum fee that the network charges for the payment, in addition to its amount.',
    }),
    balances: OrNull(
      Type.Object(
        { asset: Amount, coin: Amount },
        { description: "The payer's balances of the leg's asset and of the coin that pays the fee." },
      ),
    ),
    objection: OrNull(
      Type.String({
        description: "Why the payer cannot pay the leg, worded to follow the payer's address. Null if they can.",
      }),
    ),
    solana: Type.Optional(
      Type.Object(
        { blockhash: Type.String(), last_valid_block_height: Height, slot: Height },
        { description: 'On the primary chain: how long a transaction that is made now can still land.' },
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
          nonce: OrNull(Type.Integer({ description: "The payer's next nonce." })),
          block: Height,
        },
        { description: 'On an EVM chain: the unsigned transaction that pays, and the newest block.' },
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
        '`landed`: it is in a block. `failed` and `expired`: this transaction has moved no money and never will. `pending`: none of these is certain yet.',
    }),
  },
  { title: 'PaymentOutcome' },
)

export const FoundPayment = Type.Object(
  {
    payment: OrNull(
      Type.Object(
        { tx: Type.String(), pay_network: Type.String(), pay_asset: Type.String() },
        { description: 'The transaction to confirm the quote with.' },
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
  summary: 'What a wallet needs to know about the chain to pay a leg of a quote',
  body: Type.Object({
    pay_req_id: PayReqId,
    network: NetworkId,
    asset: Type.String({ maxLength: 100, description: 'The `asset` of the same leg.' }),
    payer: Type.Optional(
      Type.String({ ...Payer, description: 'The wallet that pays. Without it, only the fee is calculated.' }),
    ),
  }),
  responses: { 200: PaymentFacts },
  headers: NO_STORE,
  errors: ['leg_not_in_quote', 'payment_verification_failed', 'database_behind', ...RESTRICTION_ERRORS, ...ERRORS],
})

export const sendPayment = endpoint({
  name: 'sendPayment',
  method: 'POST',
  // The same transaction pays only once.
  repeatable: true,
  path: '/v1/storage/payment/send',
  auth: 'public',
  summary: 'Send a signed transaction to its chain; only transactions that pay a quote are accepted',
  body: Type.Object({
    pay_req_id: PayReqId,
    transaction: Type.String({
      maxLength: 4096,
      pattern: '^(0x[0-9a-fA-F]+|[A-Za-z0-9+/]+={0,2})$',
      description: 'The signed transaction: base64 for the primary chain, or `0x` and hex for an EVM chain.',
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
      {
        description:
          'The values from the facts that the transaction was made with: for an EVM chain, or for the primary chain.',
      },
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
        'The gateway searches for the payment until this time and then makes the receipt. Null if it does not search: it ' +
          'is watching too many quotes already, or the quote is paid or has no leg on the primary chain. Use `find` then.',
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
  summary: "Let the gateway watch for a payment made with the quote's Solana Pay code",
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
  summary: 'Find the transaction that paid a quote with its Solana Pay code, once it is on the chain',
  body: Type.Object({ pay_req_id: PayReqId }),
  responses: { 200: FoundPayment },
  headers: NO_STORE,
  errors: ERRORS,
})
