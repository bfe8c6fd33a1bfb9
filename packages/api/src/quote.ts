// The body of a 402: the legs that can pay it, and the service's own extension.

import { QUOTE_SCHEMA } from '@svc/protocol/names'
import Type, { type Static, type TProperties } from 'typebox'
import { OrNull, Timestamp, Words } from './wire.ts'

export const AtomicAmount = Type.String({
  pattern: '^[1-9][0-9]*$',
  description: 'The amount in atomic units of the asset.',
})

export const OracleRate = Type.Object(
  { usd: Type.Number(), source: Words(['oracle', 'fallback']), as_of: Timestamp(), fallback: Type.Boolean() },
  { title: 'OracleRate' },
)
export type OracleRate = Static<typeof OracleRate>

const LegExtra = Type.Object({
  name: Type.String({ description: 'Ticker.' }),
  decimals: Type.Integer(),
  human_amount: Type.String({ description: 'The amount in display units.' }),
  pay_req_id: Type.String({
    description: 'Keep it secret: together with the transaction, it gives access to the receipt.',
  }),
  quote_schema: Type.Literal(QUOTE_SCHEMA),
  oracle_rate: Type.Optional(OracleRate),
  version: Type.Optional(Type.String({ description: "The token's EIP-712 domain version." })),
  paymentFlow: Type.Optional(Type.String()),
  assetTransferMethod: Type.Optional(Type.String()),
  memo: Type.Optional(
    Type.String({ description: 'The payment reference, in the place where x402 clients expect it.' }),
  ),
  solana_pay: Type.Optional(
    Type.Object(
      {
        url: Type.String({
          description: 'A URL that pays the leg, for a QR code. It names the wallet that owns `payTo`.',
        }),
        reference: Type.String({
          description: 'An address that the payment includes, so that it can be found on chain.',
        }),
      },
      {
        description:
          'On the primary chain: a Solana Pay transfer request. The header `PAYMENT-REQUIRED` does not include it.',
      },
    ),
  ),
})

export const PaymentLeg = Type.Object(
  {
    scheme: Type.Literal('exact'),
    network: Type.String({ description: 'CAIP-2 id.' }),
    amount: AtomicAmount,
    asset: Type.String({ description: 'The token mint or contract. The all-zero address is the native coin.' }),
    payTo: Type.String({ description: 'The address to pay. For tokens of the primary chain, the token account.' }),
    maxTimeoutSeconds: Type.Integer(),
    extra: LegExtra,
  },
  { title: 'PaymentLeg' },
)
export type PaymentLeg = Static<typeof PaymentLeg>

export const LegChoice = {
  pay_network: Type.Optional(Type.String({ description: 'A friendly name or CAIP-2 id.' })),
  pay_asset: Type.Optional(Type.String({ description: 'Ticker.' })),
}

/** Part of a confirmation: proves that the payer requests the receipt of a paid quote again. */
export const PayerSignature = Type.Optional(
  Type.String({
    maxLength: 200,
    description:
      'Returns the receipt of a paid quote without its transaction. The payer signs the text "SVC_RECEIPT_CLAIM_V1", ' +
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
  { description: 'The default leg, in the format of older quotes.' },
)

/** The quote of a product with its own terms and price summary. */
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
                'Names the quote on chain: with this reference in a memo or after the calldata, a payment can pay this quote ' +
                'only. It is derived from pay_req_id and does not reveal it. Quotes of release 1.0.0 have none.',
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
                  'The endpoint for x402 clients that only sign payments. This quote must be paid with a transaction that you send.',
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

/** Headers of clients of the Machine Payments Protocol. */
export const PaymentHeaders = {
  Authorization: Type.Optional(
    Type.String({
      pattern: '^Payment [A-Za-z0-9_-]+$',
      description:
        'A payment credential for a challenge of WWW-Authenticate, as JSON in base64url. The answer is the receipt, with a Payment-Receipt header.',
    }),
  ),
  'Accept-Payment': Type.Optional(
    Type.String({ description: 'The challenges that the client can use, such as `solana/charge, evm/charge;q=0.5`.' }),
  ),
}
