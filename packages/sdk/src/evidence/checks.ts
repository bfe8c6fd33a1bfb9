import type { Attestation } from '@svc/api/attestations'
import { bare } from '@svc/protocol/bytes'
import { type EvidenceBody, isStatementSignedBy, unixSeconds } from '@svc/protocol/evidence'
import { manifestDigest, snapshotId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { leafHash, merkleRoot } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import { isReceiptSignedBy, type SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import { requireTrusted } from './trusted-keys.ts'

/** Requires that a statement is signed by a trusted key and covers exactly the listed files. */
export async function checkAttestation(context: Context, receiptId: string, attestation: Attestation): Promise<void> {
  const { envelope } = attestation
  if (attestation.receipt_id !== receiptId) throw new UntrueAnswer('the attestation is of another receipt')
  if (!envelope) throw new UntrueAnswer('the attestation comes without its signed envelope')
  const { issuer_pubkey, body } = envelope
  const signed = { use: 'evidence-envelope', at: unixSeconds(body.issued_at) }
  await requireTrusted(context, issuer_pubkey, 'the attestation', signed)
  const key = ed25519PublicKeyFromHex(issuer_pubkey ?? '')
  if (!key || !holds(() => isStatementSignedBy(key, envelope, context.domainTag)))
    throw new UntrueAnswer('the signature of the attestation does not hold')
  if (!isAboutItsFiles(attestation, envelope.body))
    throw new UntrueAnswer('the attestation is not about the files that it lists')
}

/** False also for a value that is not a list or that has no Merkle tree. */
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

/** Requires that a receipt, with all its fields, is signed by a trusted key. */
export async function checkReceipt(context: Context, receipt: SignedReceipt): Promise<void> {
  const { receipt_signer_pubkey, confirmed_at } = receipt
  await requireTrusted(context, receipt_signer_pubkey, 'the receipt', { use: 'receipt', at: unixSeconds(confirmed_at) })
  const key = ed25519PublicKeyFromHex(receipt_signer_pubkey)
  if (!key || !holds(() => isReceiptSignedBy(key, receipt)))
    throw new UntrueAnswer('the signature of the receipt does not hold')
}

/** Requires that a receipt and a statement name the same proof. Receipts of older gateways name none. */
export function requireSameProof({ proof_id }: SignedReceipt, { envelope }: Attestation): void {
  if (proof_id === undefined || !envelope || envelope.body.proof_id === proof_id) return
  throw new UntrueAnswer('the attestation is of another proof than the receipt')
}

/** A value without canonical form throws, and is signed by nobody. */
function holds(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}
