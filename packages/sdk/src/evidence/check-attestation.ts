import type { Attestation } from '@svc/api/attestations'
import { bare } from '@svc/protocol/bytes'
import { type EvidenceBody, isStatementSignedBy } from '@svc/protocol/evidence'
import { manifestDigest, snapshotId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { leafHash, merkleRoot } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import { requireTrusted } from './trusted-keys.ts'

/** That a statement is signed by a trusted key, and about just the files that come with it. */
export async function checkAttestation(context: Context, receiptId: string, attestation: Attestation): Promise<void> {
  const { envelope } = attestation
  if (attestation.receipt_id !== receiptId) throw new UntrueAnswer('the attestation is of another receipt')
  if (!envelope) throw new UntrueAnswer('the attestation comes without its signed envelope')
  await requireTrusted(context, envelope.issuer_pubkey, 'the attestation')
  const key = ed25519PublicKeyFromHex(envelope.issuer_pubkey ?? '')
  if (!key || !isStatementSignedBy(key, envelope, context.domainTag))
    throw new UntrueAnswer('the signature of the attestation does not hold')
  if (!isAboutItsFiles(attestation, envelope.body))
    throw new UntrueAnswer('the attestation is not about the files that it lists')
}

/** Lists that no tree is made of, or that are none, are not what a statement is about. */
function isAboutItsFiles({ merkle_root, file_count, files: listed }: Attestation, body: EvidenceBody): boolean {
  try {
    const files = sortedByFilename(listed)
    return (
      merkleRoot(files.map(leafHash)) === bare(merkle_root) &&
      body.merkle_root === merkle_root &&
      body.file_count === files.length &&
      file_count === files.length &&
      body.manifest_digest === manifestDigest(files) &&
      body.snapshot_id === snapshotId(body)
    )
  } catch {
    return false
  }
}
