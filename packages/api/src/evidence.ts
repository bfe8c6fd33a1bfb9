// Reading and verifying statements. All of these endpoints are public.

import Type, { type Static } from 'typebox'
import { Anchor, AnchorAbsence, Attestation, AttestedFile, EvidenceEnvelope, Facts } from './attestations.ts'
import { endpoint } from './endpoint.ts'
import { Receipt } from './receipts.ts'
import { Hex, NO_STORE, OrNull, Sha256, Timestamp, Words } from './wire.ts'

/** 32 bits on chain (SAS-03). */
export const MAX_SEQUENCE = 4_294_967_295
export const Sequence = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: MAX_SEQUENCE,
    description: 'The number of the statement; the newest by default. 0 is a record from the oracle era.',
  }),
)
export const OfReceipt = Type.Object({ receipt_id: Type.String(), sequence: Sequence })
export const open = { auth: 'public', headers: NO_STORE } as const
/** Long answers take seconds to make, so the requests are rate-limited. */
export const READ_ERRORS = ['receipt_not_found', 'statement_not_found', 'RATE_LIMITED', 'validation_error'] as const

export const VerifyAnswer = Type.Object(
  {
    receipt: Receipt,
    attestation: OrNull(Attestation),
    attestation_hint: OrNull(Type.String()),
    verified: Type.Boolean({
      description: 'Legacy: true if a record exists and is not pending. Use the facts instead.',
    }),
    verify_url: Type.String(),
    verification: Facts,
    anchor: OrNull(Anchor),
  },
  { title: 'VerifyAnswer' },
)
export type VerifyAnswer = Static<typeof VerifyAnswer>

export const verify = endpoint({
  ...open,
  name: 'verify',
  method: 'GET',
  path: '/v1/storage/verify',
  summary: 'What is attested for a receipt, fact by fact',
  query: OfReceipt,
  responses: { 200: VerifyAnswer },
  errors: READ_ERRORS,
})

export const verifyByPost = endpoint({
  ...open,
  name: 'verifyByPost',
  method: 'POST',
  // The call only reads.
  repeatable: true,
  whileBehind: 'served',
  path: '/v1/storage/verify',
  summary: 'The same as `GET`, by POST; computes nothing',
  body: OfReceipt,
  responses: { 200: VerifyAnswer },
  errors: READ_ERRORS,
})

export const Statements = Type.Object(
  {
    receipt_id: Type.String(),
    proof_id: OrNull(Hex(16)),
    statements: Type.Array(
      Type.Object({
        sequence: Type.Integer(),
        statement_digest: Hex(32),
        prev_statement_digest: OrNull(Hex(32)),
        snapshot_id: Hex(32),
        merkle_root: Sha256,
        file_count: Type.Integer(),
        total_bytes: Type.String(),
        issued_at: Timestamp(),
        anchor: OrNull(Anchor),
        anchor_absence: Type.Optional(AnchorAbsence),
        envelope: Type.Optional(EvidenceEnvelope),
      }),
      { description: 'Oldest first.' },
    ),
    next_sequence: Type.Optional(Type.Integer({ description: 'Where the next page begins. Absent on the last page.' })),
    evm_registry: Type.Optional(
      Type.Object({
        contract: Type.String(),
        key: Type.String({ description: 'The first 16 bytes of the Keccak-256 of the receipt id.' }),
        sequence: Type.Integer({ description: 'The sequence of the statement that is written or will be written.' }),
        state: Words(['waiting', 'sent', 'done']),
        tx: OrNull(Type.String()),
        block: OrNull(Type.Integer()),
        error: OrNull(Type.String()),
      }),
    ),
  },
  { title: 'Statements' },
)
export type Statements = Static<typeof Statements>

export const statements = endpoint({
  ...open,
  name: 'statements',
  method: 'GET',
  path: '/v1/storage/statements',
  summary: 'The chain of all statements of a receipt',
  query: Type.Object({
    receipt_id: Type.String(),
    from: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SEQUENCE })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    before: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_SEQUENCE,
        description:
          'Returns the newest statements before this sequence, down to `from`: for reading a chain from its end.',
      }),
    ),
    envelopes: Type.Optional(
      Type.Boolean({ description: 'Include the signed statements, from which every digest can be recomputed.' }),
    ),
  }),
  responses: { 200: Statements },
  errors: ['receipt_not_found', 'validation_error'],
})

export const Retrieved = Type.Object(
  {
    receipt_id: Type.String(),
    att_code: Type.Integer(),
    result_hash: Sha256,
    merkle_root: Sha256,
    manifest: Type.Object({
      locker_id: Type.String(),
      files: Type.Array(AttestedFile),
      file_count: Type.Integer(),
      total_bytes: Type.Integer(),
    }),
    attestation_status: Type.Optional(Type.String()),
    anchor: OrNull(Anchor),
    verification: Facts,
  },
  { title: 'Retrieved' },
)
export type Retrieved = Static<typeof Retrieved>

export const retrieve = endpoint({
  ...open,
  name: 'retrieve',
  method: 'GET',
  path: '/v1/retrieve',
  summary: 'The attestation in the form for oracles; computes a missing one for callers with X-Oracle-Secret',
  query: OfReceipt,
  requestHeaders: Type.Object({
    'X-Oracle-Secret': Type.Optional(
      Type.String({ description: 'Lets the gateway make a statement if there is none yet.' }),
    ),
  }),
  responses: { 200: Retrieved },
  errors: [
    ...READ_ERRORS,
    'locker_not_found',
    'receipt_is_renewal',
    'attestation_not_available',
    'ORACLE_SECRET_INVALID',
    'EMPTY_FILE_LIST',
    'CONTENT_HASH_CHANGED',
    'STORAGE_UNAVAILABLE',
  ],
})

export const retrievePayment = endpoint({
  ...open,
  name: 'retrievePayment',
  method: 'GET',
  path: '/v1/retrieve/payment',
  summary: "A receipt's payment, in the form for oracles",
  query: Type.Object({ receipt_id: Type.String() }),
  responses: {
    200: Type.Object({
      receipt_id: Type.String(),
      att_code: Type.Integer(),
      chain: Type.String(),
      tx_hash: Type.String(),
      paid_raw: Type.String(),
      paid_amount: Type.String(),
      pay_asset: Type.String(),
      payer_pubkey: Type.String(),
      confirmed_at: Timestamp(),
    }),
  },
  errors: ['receipt_not_found', 'validation_error'],
})

export const attestCode = endpoint({
  ...open,
  name: 'attestCode',
  method: 'GET',
  path: '/v1/attest-code',
  summary: 'The code of an attestation, which is for display and proves nothing',
  query: OfReceipt,
  responses: {
    200: Type.Object({
      receipt_id: Type.String(),
      att_code: Type.Integer(),
      result_hash: Sha256,
      source: Words(['receipt', 'attestation']),
    }),
  },
  errors: [
    'receipt_not_found',
    'statement_not_found',
    'missing_result_hash_run_storage_verify_first',
    'validation_error',
  ],
})

export const Simulation = Type.Object(
  {
    receipt_id: Type.String(),
    simulated: Type.Literal(true),
    att_code: Type.Integer(),
    result_hash: Sha256,
    would_write: Type.Object({
      type: Words(['chain_memo_v2', 'chain_sas_v1']),
      payload: Type.Record(Type.String(), Type.Unknown()),
      memo_bytes: Type.Integer(),
      signer: Type.String(),
    }),
    on_chain_write: Type.Literal(false),
  },
  { title: 'Simulation' },
)
export type Simulation = Static<typeof Simulation>

export const simulateAttest = endpoint({
  ...open,
  name: 'simulateAttest',
  method: 'POST',
  // The call writes nothing.
  repeatable: true,
  whileBehind: 'served',
  path: '/v1/attest/simulate',
  summary: 'What publishing the newest statement would write; a dry run',
  body: Type.Object({ receipt_id: Type.String() }),
  responses: { 200: Simulation },
  errors: ['receipt_not_found', 'attestation_not_available', 'RATE_LIMITED', 'validation_error'],
})

export const attestCodeByToken = endpoint({
  ...open,
  auth: 'oidc',
  // Without the token the answer is 401 (ATT-14).
  isTokenOptional: true,
  name: 'attestCodeByToken',
  method: 'GET',
  path: '/v1/attest-code/jwt',
  summary: 'Attestation and simulation of the receipt that a bearer token names',
  responses: {
    200: Type.Object({
      receipt_id: Type.String(),
      att_code: Type.Integer(),
      result_hash: Sha256,
      attestation: Attestation,
      simulation: OrNull(Simulation),
      token: Type.Object({ iss: Type.String(), exp: Type.Integer() }),
    }),
  },
  errors: [
    'BEARER_TOKEN_INVALID',
    'receipt_not_found',
    'missing_result_hash_run_storage_verify_first',
    'identity_provider_unavailable',
    'RATE_LIMITED',
  ],
})

export const PublishedAnchor = Type.Object(
  {
    type: Anchor.properties.type,
    network: Type.String({ description: 'CAIP-2.' }),
    tx: Type.String(),
    slot: OrNull(Type.Integer()),
    block_time: OrNull(Timestamp()),
    finalized: Type.Boolean(),
    statement_digest: Hex(32),
    proof_id: Hex(16),
    sequence: Type.Integer(),
    merkle_root: Sha256,
    file_count: Type.Integer(),
  },
  { title: 'PublishedAnchor', description: 'The public content of the transaction. It does not reveal the receipt.' },
)
export type PublishedAnchor = Static<typeof PublishedAnchor>

export const publishedAnchor = endpoint({
  name: 'publishedAnchor',
  method: 'GET',
  path: '/v1/anchors/{id}',
  auth: 'public',
  summary: 'The anchor of a transaction or statement digest, as it is published on chain',
  params: Type.Object({
    id: Type.String({
      pattern: '^([0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$',
      description: 'A transaction signature in base58, or a statement digest in hex.',
    }),
  }),
  responses: { 200: PublishedAnchor },
  headers: { 'cache-control': 'public, max-age=60' },
  errors: ['statement_not_found', 'validation_error'],
})
