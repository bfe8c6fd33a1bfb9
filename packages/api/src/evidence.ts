// Reading statements and checking them: public, every one of them.

import { EVIDENCE_BUNDLE_SCHEMA } from '@svc/protocol/names'
import Type, { type Static } from 'typebox'
import { Anchor, Attestation, AttestedFile, EvidenceEnvelope, Facts } from './attestations.ts'
import { endpoint } from './endpoint.ts'
import { SigningKeys } from './info.ts'
import { Receipt } from './receipts.ts'
import { Hex, OrNull, Timestamp, Words } from './wire.ts'

const NO_STORE = { 'cache-control': 'no-store' }
const Sha256 = Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })
/** Of 32 bits, on chain (AMB-80). */
const MAX_SEQUENCE = 4_294_967_295
const Sequence = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: MAX_SEQUENCE,
    description: 'Which statement of the receipt; the newest unless told. 0 is a record of the oracle era.',
  }),
)
const OfReceipt = Type.Object({ receipt_id: Type.String(), sequence: Sequence })
const open = { auth: 'public', headers: NO_STORE } as const
/** Long answers are counted: they take seconds. */
const READ_ERRORS = ['receipt_not_found', 'statement_not_found', 'RATE_LIMITED', 'validation_error'] as const

export const VerifyAnswer = Type.Object(
  {
    receipt: Receipt,
    attestation: OrNull(Attestation),
    attestation_hint: OrNull(Type.String()),
    verified: Type.Boolean({ description: 'Legacy: a record exists and is not pending. Look at the facts.' }),
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
  summary: 'What is attested of a receipt, fact by fact',
  query: OfReceipt,
  responses: { 200: VerifyAnswer },
  errors: READ_ERRORS,
})

export const verifyByPost = endpoint({
  ...open,
  name: 'verifyByPost',
  method: 'POST',
  path: '/v1/storage/verify',
  summary: 'The same by POST; computes nothing',
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
      }),
      { description: 'Oldest first.' },
    ),
    next_sequence: Type.Optional(Type.Integer({ description: 'Where the next page begins; absent on the last.' })),
    evm_registry: Type.Optional(
      Type.Object({
        contract: Type.String(),
        key: Type.String({ description: 'First 16 bytes of the Keccak-256 of the receipt id.' }),
        sequence: Type.Integer({ description: 'Of the statement that is, or is to be, written.' }),
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
  summary: 'As oracles read it; computes what is missing for callers with X-Oracle-Secret',
  query: OfReceipt,
  responses: { 200: Retrieved },
  errors: [
    ...READ_ERRORS,
    'locker_not_found',
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
  summary: "A receipt's payment, as oracles read it",
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
  summary: 'The code of an attestation: to show, never to trust',
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
  path: '/v1/attest/simulate',
  summary: 'What publishing the newest statement would write; writes nothing',
  body: Type.Object({ receipt_id: Type.String() }),
  responses: { 200: Simulation },
  errors: ['receipt_not_found', 'attestation_not_available', 'RATE_LIMITED', 'validation_error'],
})

export const attestCodeByToken = endpoint({
  ...open,
  auth: 'oidc',
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

export const InclusionProof = Type.Object(
  {
    receipt_id: Type.String(),
    filename: Type.String(),
    leaf_hash: Hex(32),
    leaf_index: Type.Integer(),
    merkle_root: Sha256,
    proof: Type.Array(Type.Object({ hash: Hex(32), position: Words(['left', 'right']) })),
    tree_depth: Type.Integer(),
    file_count: Type.Integer(),
    file_entry: Type.Object({ filename: Type.String(), size_bytes: Type.Integer(), content_hash: Sha256 }),
    schema_version: Type.Literal('1.0'),
    anchor: OrNull(Anchor),
  },
  { title: 'InclusionProof' },
)
export type InclusionProof = Static<typeof InclusionProof>

export const merkleProof = endpoint({
  ...open,
  name: 'merkleProof',
  method: 'GET',
  path: '/v1/storage/merkle-proof',
  summary: 'That a file is in the committed list',
  query: Type.Object({ receipt_id: Type.String(), filename: Type.String({ minLength: 1 }), sequence: Sequence }),
  responses: { 200: InclusionProof },
  errors: [
    'receipt_not_found',
    'statement_not_found',
    'attestation_not_available',
    'FILE_NOT_ATTESTED',
    'validation_error',
  ],
})

export const VerificationBundle = Type.Object(
  {
    schema_version: Type.Literal('1.0'),
    receipt_id: Type.String(),
    payment_proof: Type.Object({
      paid_amount: Type.String(),
      pay_asset: Type.String(),
      paid_raw: Type.String(),
      confirmed_at: Timestamp(),
      network: Type.String(),
      tx_hash: Type.String(),
      payer_pubkey: Type.String(),
      amount_sol: OrNull(Type.String()),
      amount_lamports: OrNull(Type.Integer()),
    }),
    content_proof: OrNull(
      Type.Object({
        locker_id: Type.String(),
        merkle_root: Sha256,
        result_hash: Sha256,
        file_count: Type.Integer(),
        total_bytes: Type.Integer(),
        files: Type.Array(AttestedFile),
        manifest_signature: Type.String(),
        attestation_status: Type.Optional(Type.String()),
        attested_at: Timestamp(),
        anchor: OrNull(Anchor),
      }),
    ),
    algorithm: Type.Record(Type.String(), Type.String()),
    steps: Type.Array(Type.String()),
  },
  { title: 'VerificationBundle' },
)
export type VerificationBundle = Static<typeof VerificationBundle>

export const verificationBundle = endpoint({
  ...open,
  name: 'verificationBundle',
  method: 'GET',
  path: '/v1/storage/verification-bundle',
  summary: 'Payment and content, and how to check them by hand',
  query: OfReceipt,
  responses: { 200: VerificationBundle },
  errors: READ_ERRORS,
})

export const EvidenceBundle = Type.Object(
  {
    schema: Type.Literal(EVIDENCE_BUNDLE_SCHEMA),
    bundle_version: Type.Integer(),
    receipt_id: Type.String(),
    proof_id: OrNull(Hex(16)),
    network: Type.String(),
    algorithms: Type.Object({ merkle: Type.String(), envelope: OrNull(Type.String()) }),
    commitment: Type.Object({
      merkle_root: Sha256,
      file_count: Type.Integer(),
      manifest_file_count: Type.Integer(),
      total_bytes: Type.String(),
      check_mode: OrNull(Words(['recorded_hashes', 'bytes_hashed'])),
      attested_at: Timestamp(),
    }),
    files: Type.Array(Type.Object({ filename: Type.String(), size_bytes: Type.Integer(), content_hash: Hex(32) })),
    envelope: OrNull(EvidenceEnvelope),
    v1_signature: OrNull(
      Type.Object({ manifest_signature: Type.String(), signed_message: Type.String(), result_hash: Sha256 }),
    ),
    anchor: OrNull(Anchor),
    verification: Facts,
    signing_keys: SigningKeys,
    how_to_verify: Type.Array(Type.String(), { minItems: 5, maxItems: 5 }),
  },
  { title: 'EvidenceBundle' },
)
export type EvidenceBundle = Static<typeof EvidenceBundle>

export const evidenceBundle = endpoint({
  ...open,
  name: 'evidenceBundle',
  method: 'GET',
  path: '/v1/storage/evidence-bundle',
  summary: 'Everything an offline verifier needs',
  query: Type.Object({ receipt_id: Type.Optional(Type.String()), sequence: Sequence }),
  responses: { 200: EvidenceBundle },
  errors: [...READ_ERRORS, 'missing_receipt_id', 'attestation_not_available'],
})

export const RecomputeVerify = Type.Object(
  {
    receipt_id: Type.String(),
    locker_id: Type.String(),
    match: Type.Boolean(),
    stored: Type.Object({ merkle_root: Sha256, file_count: Type.Integer() }),
    recomputed: Type.Object({
      merkle_root: OrNull(Sha256),
      file_count: Type.Integer(),
      total_bytes: Type.String(),
    }),
    files: Type.Array(
      Type.Object({
        filename: Type.String(),
        status: Words(['match', 'mismatch', 'missing']),
        recorded_hash: Sha256,
        actual_hash: OrNull(Sha256),
      }),
    ),
    missing: Type.Array(Type.String()),
    mismatched: Type.Array(Type.String()),
    checked_at: Timestamp(),
    cached: Type.Boolean(),
    anchor: OrNull(Anchor),
    verification: Facts,
  },
  { title: 'RecomputeVerify' },
)
export type RecomputeVerify = Static<typeof RecomputeVerify>

export const recomputeVerify = endpoint({
  ...open,
  name: 'recomputeVerify',
  method: 'GET',
  path: '/v1/storage/recompute-verify',
  summary: 'Read every attested file again, and compare',
  query: Type.Object({ receipt_id: Type.String() }),
  responses: { 200: RecomputeVerify },
  errors: [
    'receipt_not_found',
    'locker_not_found',
    'attestation_not_available',
    'RATE_LIMITED',
    'STORAGE_UNAVAILABLE',
    'validation_error',
  ],
})

const Check = Words(['passed', 'failed', 'not_checked'])

export const SelfVerify = Type.Object(
  {
    receipt_id: Type.String(),
    checks: Type.Object({
      merkle_root_matches: Check,
      result_hash_matches: Check,
      manifest_digest_matches: Check,
      snapshot_id_matches: Check,
      statement_digest_matches: Check,
      signature_valid: Words(['passed', 'failed', 'not_checked', 'unavailable']),
      chain_links: Check,
    }),
    anchor: OrNull(Anchor),
    verification: Facts,
    checked_at: Timestamp(),
  },
  { title: 'SelfVerify' },
)
export type SelfVerify = Static<typeof SelfVerify>

export const selfVerify = endpoint({
  ...open,
  name: 'selfVerify',
  method: 'GET',
  path: '/v1/self-verify',
  summary: 'Compute everything of a statement again from what is stored; reads no file',
  query: OfReceipt,
  responses: { 200: SelfVerify },
  errors: [...READ_ERRORS, 'attestation_not_available'],
})
