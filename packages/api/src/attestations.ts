// Statements about the files of a locker: their form, and the endpoints that make and publish them.

import { FACTS } from '@svc/protocol/facts'
import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { ContentHash } from './file-entries.ts'
import { ENVELOPE_ERRORS, Hex, NO_STORE, OrNull, Sha256, Timestamp, Words } from './wire.ts'

/** The on-chain publication of a statement. Older anchors have fewer fields. */
export const Anchor = Type.Object(
  {
    type: Words(['chain_sas_v1', 'chain_memo_v2', 'oracle_v2']),
    chain: Type.String({ description: 'CAIP-2.' }),
    tx: Type.String(),
    slot: OrNull(Type.Integer()),
    envelope_version: Type.Integer(),
    block_time: Type.Optional(OrNull(Type.Integer())),
    signer: Type.Optional(Type.String()),
    fee_lamports: Type.Optional(Type.Integer()),
    commitment: Type.Optional(Words(['confirmed', 'finalized'])),
    finalized: Type.Optional(Type.Boolean()),
    statement_digest: Type.Optional(Hex(32)),
    snapshot_id: Type.Optional(Hex(32)),
    payload: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    account: Type.Optional(OrNull(Type.String())),
    sas: Type.Optional(
      Type.Object({
        program: Type.String(),
        credential: Type.String(),
        schema: Type.String(),
        nonce: Type.String(),
        attestation: Type.String(),
        mode: Words(['latest', 'per_snapshot']),
        replaced_previous: Type.Boolean(),
      }),
    ),
  },
  { title: 'Anchor' },
)
export type Anchor = Static<typeof Anchor>

export const AnchorError = Type.Object(
  {
    error: Type.String(),
    retryable: Type.Boolean(),
    ambiguous: Type.Boolean({ description: 'Whether the transaction may still have landed.' }),
    tx_signature: OrNull(Type.String()),
    at: Timestamp(),
  },
  { title: 'AnchorError' },
)
export type AnchorError = Static<typeof AnchorError>

/** Why a statement has no anchor although nothing failed (ADD-14). */
export const AnchorAbsence = Type.Object(
  {
    reason: Words(['limit_reached', 'daily_budget_used', 'superseded']),
    publish_after: Type.Optional(
      Timestamp('The budget is used up. The newest statement is published after this time.'),
    ),
    superseded_by: Type.Optional(
      Type.Integer({
        description: 'The sequence of the newest statement, which was made before this one could be published.',
      }),
    ),
  },
  { title: 'AnchorAbsence' },
)
export type AnchorAbsence = Static<typeof AnchorAbsence>

export const EvidenceEnvelope = Type.Object(
  {
    body: Type.Object({
      schema: Type.String(),
      policy_version: Type.Integer(),
      proof_id: Hex(16),
      snapshot_id: Hex(32),
      sequence: Type.Integer({ minimum: 1 }),
      prev_statement_digest: OrNull(Hex(32)),
      merkle_algorithm: Type.String(),
      merkle_root: Sha256,
      file_count: Type.Integer(),
      manifest_file_count: Type.Integer(),
      total_bytes: Type.String(),
      manifest_digest: Sha256,
      check_mode: Words(['recorded_hashes', 'bytes_hashed']),
      issued_at: Timestamp(),
      issued_at_unix: Type.Integer(),
      issuer_key_id: Type.String(),
      nonce: Hex(16),
    }),
    statement_digest: Hex(32),
    signature: OrNull(Hex(64)),
    issuer_pubkey: OrNull(Hex(32)),
    sig_alg: Words(['ed25519', 'none']),
  },
  { title: 'EvidenceEnvelope' },
)

export const AttestedFile = Type.Object(
  {
    filename: Type.String(),
    size_bytes: Type.Integer(),
    content_hash: ContentHash,
    content_type: Type.Optional(Type.String()),
  },
  { title: 'AttestedFile' },
)
export type AttestedFile = Static<typeof AttestedFile>

export const Attestation = Type.Object(
  {
    receipt_id: Type.String(),
    locker_id: Type.String(),
    result_hash: Sha256,
    merkle_root: Sha256,
    manifest_signature: Type.String(),
    file_count: Type.Integer(),
    total_bytes: Type.Integer(),
    files: Type.Array(AttestedFile, { description: 'In code-point order.' }),
    attestation_status: Type.Optional(Words(['pending', 'computed', 'complete'])),
    attested_at: Timestamp(),
    schema_version: Type.Literal('1.0'),
    oracle_slot: OrNull(Type.Integer()),
    oracle_tx: OrNull(Type.String()),
    oracle_feed: OrNull(Type.String()),
    proof_id: Type.Optional(Hex(16)),
    snapshot_id: Type.Optional(Hex(32)),
    evidence_seq: Type.Optional(Type.Integer()),
    envelope: Type.Optional(EvidenceEnvelope),
    anchor: Type.Optional(OrNull(Anchor)),
    check_mode: Type.Optional(Words(['recorded_hashes', 'bytes_hashed'])),
    manifest_file_count: Type.Optional(Type.Integer()),
    files_skipped: Type.Optional(Type.Integer()),
    last_anchor_error: Type.Optional(AnchorError),
    anchor_absence: Type.Optional(AnchorAbsence),
  },
  { title: 'Attestation' },
)
export type Attestation = Static<typeof Attestation>

const Fact = Words(['passed', 'failed', 'not_checked', 'unavailable'])
export const Facts = Type.Object(
  Object.fromEntries(FACTS.map((fact) => [fact, Fact])) as Record<(typeof FACTS)[number], typeof Fact>,
  { title: 'VerificationFacts' },
)

export const PushResult = Type.Object(
  {
    status: Words(['pushed', 'already_anchored', 'skipped', 'failed', 'deferred']),
    anchor: OrNull(Anchor),
    anchor_type: OrNull(Type.String()),
    reason: OrNull(Type.String()),
    error: OrNull(AnchorError),
    publish_after: Type.Optional(
      Timestamp(
        'With `deferred`: the budget is used up, and the newest statement is published automatically after this time.',
      ),
    ),
  },
  { title: 'PushResult' },
)
export type PushResult = Static<typeof PushResult>

export const AttestAnswer = Type.Object(
  {
    ok: Type.Literal(true),
    receipt_id: Type.String(),
    locker_id: Type.String(),
    attestation_status: Words(['computed', 'complete']),
    unchanged: Type.Boolean({
      description: 'True if the previous statement still holds, so no new one was made.',
    }),
    att_code: Type.Integer(),
    attestation: Attestation,
    push_result: PushResult,
    verify_url: Type.String(),
  },
  { title: 'AttestAnswer' },
)
export type AttestAnswer = Static<typeof AttestAnswer>

export const AttestQueued = Type.Object(
  {
    ok: Type.Literal(true),
    receipt_id: Type.String(),
    locker_id: Type.String(),
    attestation_status: Words(['pending', 'computed', 'complete']),
    queued: Type.Literal(true),
    job_id: OrNull(Type.String()),
    push_result: Type.Null(),
    verify_url: Type.String(),
    poll_after_sec: Type.Integer(),
  },
  { title: 'AttestQueued' },
)
export type AttestQueued = Static<typeof AttestQueued>

export const attest = endpoint({
  name: 'attest',
  method: 'POST',
  // While files are unchanged, the call returns the existing statement.
  repeatable: true,
  path: '/v1/storage/attest',
  auth: { ops: ['locker:attest'] },
  summary: 'Make and sign a statement about the files of a locker, and publish it if publishing is enabled',
  query: Type.Object({ receipt_id: Type.String(), sync: Type.Optional(Type.Boolean({ default: false })) }),
  responses: { 202: AttestQueued, 200: AttestAnswer },
  headers: NO_STORE,
  errors: [
    ...ENVELOPE_ERRORS,
    'OWNER_REQUIRED',
    'receipt_not_found',
    'locker_not_found',
    'receipt_is_renewal',
    'EMPTY_FILE_LIST',
    'CONTENT_HASH_CHANGED',
    'RATE_LIMITED',
    'validation_error',
    'STORAGE_UNAVAILABLE',
    'logbook_unavailable',
  ],
})

export const PushAnswer = Type.Object(
  {
    ok: Type.Literal(true),
    receipt_id: Type.String(),
    ...PushResult.properties,
    attestation_status: Words(['computed', 'complete']),
  },
  { title: 'PushAnswer' },
)
export type PushAnswer = Static<typeof PushAnswer>

export const push = endpoint({
  name: 'push',
  method: 'POST',
  // A published statement is not published again.
  repeatable: true,
  path: '/v1/attest/push',
  auth: { ops: ['locker:attest'] },
  summary: 'Publish the newest statement on chain, unless it is already published',
  body: Type.Object({ receipt_id: Type.String() }),
  responses: { 200: PushAnswer },
  headers: NO_STORE,
  errors: [
    ...ENVELOPE_ERRORS,
    'OWNER_REQUIRED',
    'receipt_not_found',
    'attestation_not_available',
    'anchor_failed',
    'RATE_LIMITED',
    'validation_error',
    'logbook_unavailable',
  ],
})
