// Statements in the formats of third-party verifiers.

import { DSSE_MEDIA_TYPE, IN_TOTO_PAYLOAD_TYPE, SIGSTORE_BUNDLE_MEDIA_TYPE } from '@svc/protocol/dsse'
import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { open, READ_ERRORS, Sequence } from './evidence.ts'
import { Words } from './wire.ts'

const Base64 = (description: string) => Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$', description })

const DsseEnvelope = Type.Object(
  {
    payload: Base64(
      "An in-toto statement. The files are its subjects, and the gateway's signed statement is its predicate.",
    ),
    payloadType: Type.Literal(IN_TOTO_PAYLOAD_TYPE),
    signatures: Type.Array(
      Type.Object({
        keyid: Type.String({ description: 'The id of the key in `GET /v1/keys`.' }),
        sig: Base64('An Ed25519 signature over the pre-authentication encoding.'),
      }),
      { minItems: 1, maxItems: 1 },
    ),
  },
  { title: 'DsseEnvelope' },
)

const SigstoreBundle = Type.Object(
  {
    mediaType: Type.Literal(SIGSTORE_BUNDLE_MEDIA_TYPE),
    verificationMaterial: Type.Object({
      publicKey: Type.Object({ hint: Type.String({ description: 'The id of the key in `GET /v1/keys`.' }) }),
    }),
    dsseEnvelope: DsseEnvelope,
  },
  { title: 'SigstoreBundle' },
)

const DSSE_FORMATS = ['dsse', 'sigstore-bundle'] as const
export type DsseFormat = (typeof DSSE_FORMATS)[number]

export const DSSE_TYPES: Record<DsseFormat, string> = {
  dsse: DSSE_MEDIA_TYPE,
  'sigstore-bundle': SIGSTORE_BUNDLE_MEDIA_TYPE,
}

const DsseAnswer = Type.Union([DsseEnvelope, SigstoreBundle])
export type DsseAnswer = Static<typeof DsseAnswer>

export const dsse = endpoint({
  ...open,
  name: 'dsse',
  method: 'GET',
  path: '/v1/storage/dsse',
  summary:
    'A statement for in-toto, cosign and other Sigstore verifiers, about one file or all files of a small locker',
  query: Type.Object({
    receipt_id: Type.String(),
    sequence: Sequence,
    filename: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        description: 'The file to prove. By default all files, if there are not too many.',
      }),
    ),
    format: Type.Optional(Words(DSSE_FORMATS)),
  }),
  responses: { 200: DsseAnswer },
  contentTypes: Object.values(DSSE_TYPES),
  errors: [
    ...READ_ERRORS,
    'attestation_not_available',
    'FILE_NOT_ATTESTED',
    'signing_key_unavailable',
    'database_behind',
  ],
})
