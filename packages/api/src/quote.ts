// The body of a 402: the legs it can be paid by, and the service's own extension.

import { QUOTE_SCHEMA } from '@svc/protocol/names'
import Type, { type Static, type TProperties } from 'typebox'
import { OrNull, Timestamp, Words } from './wire.ts'

export const AtomicAmount = Type.String({ pattern: '^[1-9][0-9]*$', description: 'Atomic units of the asset.' })

export const OracleRate = Type.Object(
  { usd: Type.Number(), source: Words(['oracle', 'fallback']), as_of: Timestamp(), fallback: Type.Boolean() },
  { title: 'OracleRate' },
)
export type OracleRate = Static<typeof OracleRate>

const LegExtra = Type.Object({
  name: Type.String({ description: 'Ticker.' }),
  decimals: Type.Integer(),
  human_amount: Type.String({ description: 'The amount in display units.' }),
  pay_req_id: Type.String({ description: 'Keep it to yourself: with the transaction, it gives the receipt.' }),
  quote_schema: Type.Literal(QUOTE_SCHEMA),
  oracle_rate: Type.Optional(OracleRate),
  version: Type.Optional(Type.String({ description: "The token's EIP-712 domain version." })),
  paymentFlow: Type.Optional(Type.String()),
  assetTransferMethod: Type.Optional(Type.String()),
  memo: Type.Optional(Type.String({ description: 'The payment reference, where x402 clients look for it.' })),
  solana_pay: Type.Optional(
    Type.Object(
      {
        url: Type.String({ description: 'Pays the leg, for a QR code. It names the wallet that owns `payTo`.' }),
        reference: Type.String({ description: 'An address that the payment names, by which it is found on chain.' }),
      },
      {
        description: 'On the primary chain: a transfer request of Solana Pay. The header `PAYMENT-REQUIRED` has none.',
      },
    ),
  ),
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

export const LegChoice = {
  pay_network: Type.Optional(Type.String({ description: 'Friendly name or CAIP-2 id.' })),
  pay_asset: Type.Optional(Type.String({ description: 'Ticker.' })),
}

/** Of a confirmation: proves who asks for the receipt of a paid quote again. */
export const PayerSignature = Type.Optional(
  Type.String({
    maxLength: 200,
    description:
      'Gets the receipt of a paid quote without its transaction. The payer signs the text "SVC_RECEIPT_CLAIM_V1", ' +
      '"Send me the receipt of my payment.", "service: {confirm_url}", "quote: {pay_req_id}", with a line feed between: ' +
      'base58 of an Ed25519 signature, or an EIP-191 personal signature.',
  }),
)

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

/** A quote for something with its own terms and price summary. */
export function quoteOf<Terms extends TProperties, Summary extends TProperties, More extends TProperties>(
  title: string,
  terms: Terms,
  priceSummary: Summary,
  more: More,
) {
  return Type.Object(
    {
      x402Version: Type.Literal(2),
      resource: Type.Object({ url: Type.String(), description: Type.String(), mimeType: Type.String() }),
      accepts: Type.Array(PaymentLeg),
      error: Type.String(),
      extensions: Type.Object({
        svc: Type.Object({
          terms: Type.Object({
            ...terms,
            quote_expires_at: Timestamp(),
            environment: Type.Optional(Type.Literal('development')),
          }),
          instructions: Type.Object({
            steps: Type.Array(Type.String()),
            confirm_url: Type.String(),
            cli_example: Type.String(),
          }),
          price_summary: Type.Object(priceSummary),
          payment_reference: Type.Optional(
            Type.String({
              description:
                'Names the quote on chain: put it into a memo or behind the calldata, and the payment pays this quote ' +
                'only. It follows from pay_req_id, and nobody finds the way back. Quotes of release 1.0.0 have none.',
            }),
          ),
          legacy: LegacyQuote,
          ...more,
          info: Type.Object({
            flow: Type.String(),
            confirm_url: Type.String(),
            confirm_header: Type.String(),
            pay_req_id: Type.String(),
            expires_at: Timestamp(),
            x402_url: Type.Optional(
              Type.String({
                description:
                  'Where x402 clients buy that only sign. This quote is paid with a transaction of your own.',
              }),
            ),
          }),
          schema: Type.Object({}, { additionalProperties: true, description: 'JSON Schema of `info`.' }),
        }),
      }),
    },
    { title },
  )
}

/** Of clients of the Machine Payments Protocol. */
export const PaymentHeaders = {
  Authorization: Type.Optional(
    Type.String({
      pattern: '^Payment [A-Za-z0-9_-]+$',
      description:
        'A payment credential for a challenge of WWW-Authenticate: base64url of JSON. Answered with the receipt and Payment-Receipt.',
    }),
  ),
  'Accept-Payment': Type.Optional(
    Type.String({ description: 'Which challenges the client can use, as `solana/charge, evm/charge;q=0.5`.' }),
  ),
}
