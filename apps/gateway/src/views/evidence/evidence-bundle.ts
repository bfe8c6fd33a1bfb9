// `GET /v1/storage/evidence-bundle`: everything that an offline verifier needs.

import type { EvidenceBundle } from '@svc/api/proofs'
import { bare } from '@svc/protocol/bytes'
import { EVIDENCE_BUNDLE_SCHEMA, EVIDENCE_SCHEMA, MERKLE_ALGORITHM } from '@svc/protocol/names'
import { PUBLISHED_STEP } from '@svc/protocol/redacted-bundle'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import type { AttestationRecord } from '../../evidence/record.ts'
import type { StoredFile } from '../../evidence/snapshots/chunk-content.ts'
import { answerInPieces, withFiles } from '../../evidence/view.ts'
import { showKeys } from '../../keys/signing-keys.ts'
import { bundleLog } from './bundle-log.ts'
import { type Attested, factsOf, limitLong, readAttested } from './read-evidence.ts'

export async function readEvidenceBundle(
  context: Context,
  wire: WireRequest,
  { receipt_id, sequence }: { receipt_id?: string; sequence?: number },
) {
  if (!receipt_id) {
    throw new ServiceError('missing_receipt_id', 'whose evidence?', {
      hint: 'GET /v1/storage/evidence-bundle?receipt_id=<receipt id>',
    })
  }
  const attested = await readAttested(context, receipt_id, sequence)
  await limitLong(context, wire, attested.record)
  const head = await bundleHead(context, attested)
  return answerInPieces<EvidenceBundle>(attested.record, withFiles(head, attested.record, context, bundleFile))
}

async function bundleHead(context: Context, attested: Attested): Promise<Omit<EvidenceBundle, 'files'>> {
  const { receipt, record: of } = attested
  const { record, anchor, anchorAbsence } = of
  const envelope = record.envelope ?? null
  const { domainTag } = context.config.evidence
  const log = await bundleLog(context, envelope)
  return {
    schema: EVIDENCE_BUNDLE_SCHEMA,
    bundle_version: envelope ? 2 : 1,
    receipt_id: receipt.receipt_id,
    proof_id: record.proof_id ?? null,
    network: receipt.network,
    algorithms: { merkle: MERKLE_ALGORITHM, envelope: envelope && EVIDENCE_SCHEMA },
    commitment: {
      merkle_root: record.merkle_root,
      file_count: record.file_count,
      manifest_file_count: record.manifest_file_count ?? record.file_count,
      total_bytes: envelope?.body.total_bytes ?? String(record.total_bytes),
      check_mode: record.check_mode ?? null,
      attested_at: record.attested_at,
    },
    envelope,
    v1_signature: envelope ? null : v1Signature(of),
    anchor,
    ...(anchorAbsence && { anchor_absence: anchorAbsence }),
    ...(log && { log }),
    verification: await factsOf(context, attested),
    signing_keys: await showKeys(context, context.transparencyLog.listed),
    how_to_verify: envelope ? howToVerify(domainTag) : howToVerifyV1(domainTag),
  }
}

function v1Signature({ record }: AttestationRecord) {
  const { manifest_signature, merkle_root, result_hash } = record
  return { manifest_signature, signed_message: bare(merkle_root), result_hash }
}

/** Leaves are hashed with the unprefixed content hash (VER-14). */
function bundleFile({ nameAndSize, contentHash }: StoredFile): string {
  return `{${nameAndSize},"content_hash":"${contentHash}"}`
}

// The steps of how_to_verify, one sentence each, for a reader who has only the bundle.
const REBUILD =
  'Sort files by filename in code-point order, hash "{filename}:{size_bytes}:{content_hash}" of each with SHA-256, hash pairs of the hex digests level by level (a last one without a partner pairs with itself), and compare what remains with commitment.merkle_root and the number of leaves with commitment.file_count.'

function howToVerify(domainTag: string): string[] {
  return [
    REBUILD,
    'Write envelope.body as canonical JSON (RFC 8785, integers only), hash it with SHA-256, and compare the result with envelope.statement_digest.',
    `Put together 58 bytes (the 25 ASCII characters ${domainTag}, a zero byte, and the 32 bytes of the digest) and verify envelope.signature over them by Ed25519 with a key that you did not get from this bundle or its gateway.`,
    'Compare envelope.body.merkle_root and envelope.body.file_count with what the first step gave.',
    PUBLISHED_STEP,
  ]
}

/** A record of the oracle era has no envelope: the Merkle root itself is signed. */
function howToVerifyV1(domainTag: string): string[] {
  return [
    REBUILD,
    'Compare v1_signature.signed_message with commitment.merkle_root without its prefix.',
    `Verify v1_signature.manifest_signature over the 64 ASCII characters of v1_signature.signed_message, without the tag ${domainTag} that newer statements are signed under, by Ed25519 with a key that you did not get from this bundle or its gateway.`,
    'Take a signature that begins with "unsigned:" for none.',
    'Where anchor is not null, fetch the transaction anchor.tx from a node that you trust, and see that it succeeded and wrote to anchor.account.',
  ]
}
