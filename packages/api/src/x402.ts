// The standard x402 payment as a second way to buy: the client signs, the gateway sends, all in one call.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { LockerList, listLockers, TAGGED_BODY_BYTES, Tags } from './lockers.ts'
import { Confirmation, Quote, requestStorage } from './purchases.ts'
import { PaymentLeg } from './quote.ts'
import { OrNull, Timestamp, Words } from './wire.ts'

const { units: Units, provider } = requestStorage.body.properties

/** A leg for x402's own exact scheme, where `payTo` is a wallet, for tokens too. */
export const X402Leg = Type.Object(
  {
    ...PaymentLeg.properties,
    payTo: Type.String({ description: 'The wallet that receives the payment.' }),
    extra: Type.Object({
      ...PaymentLeg.properties.extra.properties,
      feePayer: Type.Optional(
        Type.String({ description: 'The account that pays the network fee. On the primary chain only.' }),
      ),
      token_account: Type.Optional(Type.String({ description: "The wallet's account for the token." })),
    }),
  },
  { title: 'X402Leg' },
)
export type X402Leg = Static<typeof X402Leg>

const quoteExtension = Quote.properties.extensions.properties.svc.properties

export const X402Quote = Type.Object(
  {
    x402Version: Type.Literal(2),
    resource: Quote.properties.resource,
    accepts: Type.Array(X402Leg),
    error: Type.String(),
    extensions: Type.Object({
      svc: Type.Object({
        terms: quoteExtension.terms,
        instructions: Type.Object({ steps: Type.Array(Type.String()) }),
        price_summary: quoteExtension.price_summary,
        tags: Type.Optional(Type.Array(Type.String())),
        info: Type.Object({
          flow: Type.Literal('sign-and-repeat'),
          pay_req_id: Type.String(),
          expires_at: Timestamp(),
        }),
        schema: quoteExtension.schema,
      }),
      'offer-receipt': Type.Optional(
        Type.Object(
          {
            info: Type.Object({
              offers: Type.Array(
                Type.Object({
                  format: Type.Literal('jws'),
                  acceptIndex: Type.Integer({ description: 'The index of its leg in `accepts`.' }),
                  signature: Type.String(),
                }),
              ),
            }),
            schema: quoteExtension.schema,
          },
          {
            description:
              'The legs, signed with the statement key. The header `PAYMENT-REQUIRED` is too short to include them.',
          },
        ),
      ),
    }),
  },
  { title: 'X402Quote' },
)
export type X402Quote = Static<typeof X402Quote>

const Digits = Type.String({ pattern: '^[0-9]{1,78}$' })
const EvmAddress = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })

/** EIP-3009: allows anyone to move this amount from the payer to the treasury, once. */
export const EvmPayload = Type.Object({
  signature: Type.String({ pattern: '^0x([0-9a-fA-F]{2}){1,2048}$' }),
  authorization: Type.Object({
    from: EvmAddress,
    to: EvmAddress,
    value: Digits,
    validAfter: Digits,
    validBefore: Digits,
    nonce: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }),
  }),
})
export type EvmPayload = Static<typeof EvmPayload>

/** A transaction that lacks only the fee payer's signature. */
export const SvmPayload = Type.Object({
  transaction: Type.String({ pattern: '^[A-Za-z0-9+/]{1,1644}={0,2}$', description: 'Base64.' }),
})
export type SvmPayload = Static<typeof SvmPayload>

/** The content of the header PAYMENT-SIGNATURE, which is JSON in base64. */
export const PaymentSignature = Type.Object(
  {
    x402Version: Type.Literal(2),
    accepted: Type.Object({
      scheme: Type.String(),
      network: Type.String(),
      amount: Type.String(),
      asset: Type.String(),
      payTo: Type.String(),
      extra: Type.Object({ pay_req_id: Type.String({ pattern: '^pr_[0-9a-f]{32}$' }) }),
    }),
    payload: Type.Union([EvmPayload, SvmPayload]),
    extensions: Type.Optional(
      Type.Object({
        'payment-identifier': Type.Optional(
          Type.Object({
            info: Type.Object({
              id: Type.Optional(
                Type.String({
                  pattern: '^[a-zA-Z0-9_-]{16,128}$',
                  description: 'A name for the purchase. The same name is paid only once.',
                }),
              ),
            }),
          }),
        ),
      }),
    ),
  },
  { title: 'PaymentSignature' },
)
export type PaymentSignature = Static<typeof PaymentSignature>

/** The result of a purchase. The locker is open, and the next request can be a signed one. */
export const X402Purchase = Type.Object(
  {
    ...Confirmation.properties,
    locker_id: OrNull(
      Type.String({ description: 'The open locker. Null if it could not be opened; the receipt remains valid.' }),
    ),
    next_step: Type.Object({
      what: Type.String({ description: 'What the request does, or what must happen before it.' }),
      method: Type.Literal('POST'),
      url: Type.String(),
      ops: Type.Array(Type.String(), { description: 'The ops of its envelope.' }),
      signer: Type.String({ description: 'The wallet whose key signs the request: the one that paid.' }),
      sig_alg: Words(['ed25519', 'secp256k1']),
    }),
  },
  { title: 'X402Purchase' },
)
export type X402Purchase = Static<typeof X402Purchase>

export const buyStorage = endpoint({
  name: 'buyStorage',
  method: 'POST',
  repeatable: 'with-once-header',
  path: '/v1/x402/storage',
  auth: 'public',
  summary:
    'Buy in one call with a standard x402 client: answers 402 with the payment to sign, then the receipt for PAYMENT-SIGNATURE',
  requestHeaders: Type.Object({
    'PAYMENT-SIGNATURE': Type.Optional(Type.String({ description: 'The signed payment, as JSON in base64.' })),
  }),
  maxBodyBytes: TAGGED_BODY_BYTES,
  body: Type.Object({
    units: Type.Optional(Type.Integer({ ...Units, default: 1 })),
    provider,
    tags: Type.Optional(Tags),
    extends: Type.Optional(
      Type.Unknown({
        description: 'Not supported here: renewals are quoted by POST /v1/storage/request and paid on chain.',
      }),
    ),
  }),
  responses: { 200: X402Purchase, 402: X402Quote },
  headers: { 'cache-control': 'no-store' },
  errors: [
    'RATE_LIMITED',
    'malformed_payment',
    'payment_verification_failed',
    'not_found',
    'pay_req_not_found',
    'idempotency_conflict',
    'quote_expired',
    'validation_error',
    'chain_unavailable',
    'database_behind',
    'logbook_unavailable',
    'STORAGE_UNAVAILABLE',
  ],
})

const { wallet: _, ...pages } = listLockers.query.properties

/** The 402 of the extension sign-in-with-x, for an endpoint that requires no payment. */
export const SignInRequired = Type.Object(
  {
    x402Version: Type.Literal(2),
    resource: Quote.properties.resource,
    accepts: Type.Array(X402Leg, { maxItems: 0 }),
    error: Type.String(),
    extensions: Type.Object({
      'sign-in-with-x': Type.Object({
        info: Type.Object({
          domain: Type.String(),
          uri: Type.String(),
          statement: Type.String(),
          version: Type.Literal('1'),
          nonce: Type.String(),
          issuedAt: Type.String(),
          expirationTime: Type.String(),
        }),
        supportedChains: Type.Array(
          Type.Object({ chainId: Type.String({ description: 'CAIP-2' }), type: Words(['ed25519', 'eip191']) }),
        ),
        schema: quoteExtension.schema,
      }),
    }),
  },
  { title: 'SignInRequired' },
)
export type SignInRequired = Static<typeof SignInRequired>

const SignedTime = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$' })

/** The content of the header SIGN-IN-WITH-X, which is JSON in base64. */
export const SignIn = Type.Object(
  {
    domain: Type.String(),
    uri: Type.String(),
    address: listLockers.query.properties.wallet,
    chainId: Type.String(),
    nonce: Type.String({ pattern: '^[A-Za-z0-9]{8,96}$' }),
    issuedAt: SignedTime,
    expirationTime: SignedTime,
    signature: Type.String({ maxLength: 256 }),
  },
  { title: 'SignIn' },
)
export type SignIn = Static<typeof SignIn>

export const listBought = endpoint({
  name: 'listBought',
  method: 'GET',
  path: '/v1/x402/storage',
  auth: 'public',
  summary:
    'List what a wallet has bought, with the x402 extension sign-in-with-x: answers 402 with the challenge to sign, then the lockers',
  requestHeaders: Type.Object({
    'SIGN-IN-WITH-X': Type.Optional(Type.String({ description: 'The signed challenge, as JSON in base64.' })),
  }),
  query: Type.Object(pages),
  responses: { 200: LockerList, 402: SignInRequired },
  headers: { 'cache-control': 'no-store' },
  errors: ['RATE_LIMITED', 'validation_error', 'database_behind', 'logbook_unavailable'],
})
