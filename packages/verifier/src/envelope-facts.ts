import { bare } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { type EvidenceBody, statementDigest } from '@svc/protocol/evidence'
import { snapshotId } from '@svc/protocol/ids'
import { type Fact, failed, notChecked, PASSED, passedUnless } from './facts.ts'
import type { BundleParts } from './read-bundle.ts'
import { readStatementBody } from './statement-body.ts'
import { isObject } from './strict.ts'

const NO_ENVELOPE = notChecked('a version-1 bundle has no envelope')

/** Merkle rule 8: the number of leaves counts as much as the root. */
export function merkleRootMatches({ commitment, files }: BundleParts): Fact {
  const { merkle_root, file_count } = commitment
  if (file_count !== files.count) return failed(`the bundle lists ${files.count} files, its commitment says otherwise`)
  if (typeof merkle_root !== 'string' || bare(merkle_root) !== files.merkleRoot) {
    return failed('the files have another Merkle root than the commitment')
  }
  return PASSED
}

export function statementDigestMatches({ envelope }: BundleParts): Fact {
  if (!envelope) return NO_ENVELOPE
  return passedUnless(digestOf(envelope.body) === envelope.statement_digest ? null : 'the statement has another digest')
}

/** Null of what has no canonical form, and so no digest. */
function digestOf(body: Json | undefined): string | null {
  if (!isObject(body)) return null
  try {
    return statementDigest(body as unknown as EvidenceBody)
  } catch {
    return null
  }
}

/** Whether the statement speaks of the files that were counted, and the commitment repeats what it says (EVID-20). */
export function envelopeBindsCommitment(parts: BundleParts): Fact {
  if (!parts.envelope) return NO_ENVELOPE
  const body = readStatementBody(parts.envelope.body)
  return passedUnless(typeof body === 'string' ? body : differingField(body, parts))
}

function differingField(body: EvidenceBody, { proofId, commitment, files }: BundleParts): string | null {
  if (bare(body.merkle_root) !== files.merkleRoot) return 'the statement has another Merkle root than the files'
  if (body.file_count !== files.count) return `the statement counts ${body.file_count} files, the bundle ${files.count}`
  if (body.manifest_digest !== files.manifestDigest) return 'the statement has another manifest digest than the files'
  if (body.total_bytes !== String(files.totalBytes)) return 'the statement has another total of bytes than the files'
  if (body.snapshot_id !== snapshotId(body)) return 'the snapshot id does not follow from the statement'
  if (body.proof_id !== proofId) return 'the bundle has another proof id than the statement'
  const said: [field: string, Json | undefined, Json][] = [
    ['merkle_root', commitment.merkle_root, body.merkle_root],
    ['file_count', commitment.file_count, body.file_count],
    ['manifest_file_count', commitment.manifest_file_count, body.manifest_file_count],
    // AMB-52: a string here, and a number elsewhere.
    ['total_bytes', String(commitment.total_bytes), body.total_bytes],
    ['check_mode', commitment.check_mode, body.check_mode],
    ['attested_at', commitment.attested_at, body.issued_at],
  ]
  const differing = said.find(([, inCommitment, inBody]) => inCommitment !== inBody)
  return differing ? `commitment.${differing[0]} is not what the statement says` : null
}
