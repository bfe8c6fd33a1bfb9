import type { EvidenceBundle } from '@svc/api/proofs'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { bare } from '@svc/protocol/bytes'
import type { FileEntry } from '@svc/protocol/merkle'
import { EVIDENCE_BUNDLE_SCHEMA, EVIDENCE_SCHEMA, MERKLE_ALGORITHM } from '@svc/protocol/names'
import type { AttestationRecord } from '../attestations/record.ts'
import { answerInPieces, withFiles } from '../attestations/view.ts'
import { listSigningKeys } from '../info/signing-keys.ts'
import { type FactsContext, factsOf } from './facts.ts'
import { howToVerify, howToVerifyV1 } from './how-to-verify.ts'
import { limitLong } from './limit-long.ts'
import { type Attested, readAttested } from './read-evidence.ts'

/** Everything an offline verifier needs. */
export async function readEvidenceBundle(
  context: FactsContext,
  { receipt_id, sequence }: { receipt_id?: string; sequence?: number },
  wire: WireRequest,
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

async function bundleHead(context: FactsContext, attested: Attested): Promise<Omit<EvidenceBundle, 'files'>> {
  const { receipt, record: of } = attested
  const { record, anchor } = of
  const envelope = record.envelope ?? null
  const { domainTag } = context.config.evidence
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
    verification: await factsOf(context, attested),
    signing_keys: await listSigningKeys(context),
    how_to_verify: envelope ? howToVerify(domainTag) : howToVerifyV1(domainTag),
  }
}

function v1Signature({ record }: AttestationRecord) {
  const { manifest_signature, merkle_root, result_hash } = record
  return { manifest_signature, signed_message: bare(merkle_root), result_hash }
}

/** Bare, as leaves are hashed (VER-14). */
function bundleFile({ filename, size_bytes, content_hash }: FileEntry): FileEntry {
  return { filename, size_bytes, content_hash: bare(content_hash) }
}
