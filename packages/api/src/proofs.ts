// Proofs and bundles, which can be verified without trusting the gateway, and verifications by the gateway itself.

import { EVIDENCE_BUNDLE_SCHEMA, REDACTED_BUNDLE_SCHEMA } from '@svc/protocol/names'
import { REDACTIONS } from '@svc/protocol/redacted-bundle'
import Type, { type Static } from 'typebox'
import { Anchor, AnchorAbsence, AttestedFile, EvidenceEnvelope, Facts } from './attestations.ts'
import { endpoint } from './endpoint.ts'
import { OfReceipt, open, READ_ERRORS, Sequence } from './evidence.ts'
import { KeyEndorsement, KeyRevocation, SigningKeys } from './info.ts'
import { LogAnchor } from './log.ts'
import { Hex, OrNull, Sha256, Timestamp, Words } from './wire.ts'

const Proof = Type.Array(Type.Object({ hash: Hex(32), position: Words(['left', 'right']) }))

export const InclusionProof = Type.Object(
  {
    receipt_id: Type.String(),
    filename: Type.String(),
    leaf_hash: Hex(32),
    leaf_index: Type.Integer(),
    merkle_root: Sha256,
    proof: Proof,
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
  summary: 'The proof that a file is in the committed list',
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

export const BundleLog = Type.Object(
  {
    proof: Type.String({ description: 'The proof that the statement is in the log, as one text (C2SP tlog-proof).' }),
    anchor: OrNull(LogAnchor),
  },
  { title: 'BundleLog', description: 'Absent until a checkpoint of the log includes the statement.' },
)
export type BundleLog = Static<typeof BundleLog>

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
    log: Type.Optional(Type.Object({ statement_digest: Hex(32), ...BundleLog.properties })),
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
  summary: 'The payment and the content, and how to verify them by hand',
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
    anchor_absence: Type.Optional(AnchorAbsence),
    log: Type.Optional(BundleLog),
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

/** The names are in the request line, whose length is limited. */
export const MAX_CHOSEN_FILES = 100

export const RedactedBundle = Type.Object(
  {
    schema: Type.Literal(REDACTED_BUNDLE_SCHEMA),
    redaction: Words(REDACTIONS),
    algorithms: Type.Object({ merkle: Type.String(), envelope: Type.String() }),
    envelope: EvidenceEnvelope,
    anchor: OrNull(Anchor),
    anchor_absence: Type.Optional(AnchorAbsence),
    log: Type.Optional(BundleLog),
    signing_keys: Type.Optional(
      Type.Object(
        { endorsements: Type.Array(KeyEndorsement), revocations: Type.Array(KeyRevocation) },
        { description: 'How the key of the statement is derived from earlier keys by endorsement.' },
      ),
    ),
    how_to_verify: Type.Array(Type.String(), { minItems: 5, maxItems: 5 }),
    files: Type.Optional(
      Type.Array(
        Type.Object({
          filename: Type.String(),
          size_bytes: Type.Integer(),
          content_hash: Hex(32),
          leaf_index: Type.Integer(),
          proof: Proof,
        }),
        { description: 'With `chosen_files`: only the chosen files, in the order of their names.' },
      ),
    ),
    leaf_hashes: Type.Optional(
      Type.Array(Hex(32), { description: 'With `no_names`: the leaf of every file, in the order of the names.' }),
    ),
  },
  { title: 'RedactedBundle' },
)
export type RedactedBundle = Static<typeof RedactedBundle>

export const redactedBundle = endpoint({
  ...open,
  name: 'redactedBundle',
  method: 'GET',
  // A separate path, because a gateway that does not know it must not answer with the full bundle (T-33).
  path: '/v1/storage/redacted-bundle',
  summary: 'Evidence without the receipt: proves the named files, or all files without their names',
  query: Type.Object({
    receipt_id: Type.String(),
    filename: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
        minItems: 1,
        maxItems: MAX_CHOSEN_FILES,
        description: 'A file to include; may be repeated. Without it, no name is included.',
      }),
    ),
    sequence: Sequence,
  }),
  responses: { 200: RedactedBundle },
  errors: [...READ_ERRORS, 'attestation_not_available', 'FILE_NOT_ATTESTED'],
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
  summary: 'Read every attested file again and compare it with its attested hash',
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
  summary: 'Recompute a statement from stored records; reads no file',
  query: OfReceipt,
  responses: { 200: SelfVerify },
  errors: [...READ_ERRORS, 'attestation_not_available'],
})
