// The Machine Payments Protocol: the content of `Authorization: Payment`, which is JSON in base64url.

import Type, { type Static } from 'typebox'
import { EvmPayload } from './x402.ts'

const Text = Type.String({ maxLength: 2048 })

/** The parameters of the challenge, unchanged by the client. */
const EchoedChallenge = Type.Object(
  {
    id: Text,
    realm: Text,
    method: Text,
    intent: Text,
    request: Text,
    expires: Text,
    opaque: Text,
  },
  { additionalProperties: Text },
)

/** The payer sent a transaction on the primary chain. */
const SignaturePayload = Type.Object({
  type: Type.Literal('signature'),
  signature: Type.String({ pattern: '^[1-9A-HJ-NP-Za-km-z]{64,88}$' }),
})

/** The payer sent a transaction on the EVM chain. */
const HashPayload = Type.Object({
  type: Type.Literal('hash'),
  hash: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }),
})

/** EIP-3009: the payer signed, and the gateway sends. */
export const AuthorizationPayload = Type.Object({
  type: Type.Literal('authorization'),
  signature: EvmPayload.properties.signature,
  ...EvmPayload.properties.authorization.properties,
})
export type AuthorizationPayload = Static<typeof AuthorizationPayload>

/** The payload schemas of each payment method. A payload has one of the types of its method. */
export const CREDENTIAL_PAYLOADS = {
  solana: SignaturePayload,
  evm: Type.Union([HashPayload, AuthorizationPayload]),
}
export type PaymentMethod = keyof typeof CREDENTIAL_PAYLOADS
export type CredentialPayload =
  | Static<(typeof CREDENTIAL_PAYLOADS)['solana']>
  | Static<(typeof CREDENTIAL_PAYLOADS)['evm']>

export const PaymentCredential = Type.Object(
  {
    challenge: EchoedChallenge,
    payload: Type.Object({ type: Type.String() }),
    source: Type.Optional(Type.String({ description: 'Ignored: the payer is read from the chain.' })),
  },
  { title: 'PaymentCredential' },
)
export type PaymentCredential = Static<typeof PaymentCredential>
