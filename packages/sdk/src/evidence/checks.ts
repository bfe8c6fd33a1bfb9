import type { Attestation } from '@svc/api/attestations'
import type { InclusionProof } from '@svc/api/proofs'
import { bare } from '@svc/protocol/bytes'
import { type EvidenceBody, type EvidenceEnvelope, isStatementSignedBy, unixSeconds } from '@svc/protocol/evidence'
import { manifestDigest, snapshotId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { foldProof, leafHash, merkleRoot, type ProofStep, treeDepth } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import { isReceiptSignedBy, type SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import { requireTrusted } from './trusted-keys.ts'

/** Requires that a statement is signed by a trusted key and covers exactly the listed files. */
export async function checkAttestation(context: Context, receiptId: string, attestation: Attestation): Promise<void> {
  const { envelope } = attestation
  if (attestation.receipt_id !== receiptId) throw new UntrueAnswer('the attestation is for another receipt')
  if (!envelope) throw new UntrueAnswer('the attestation has no signed envelope')
  await checkStatement(context, envelope)
  if (!isAboutItsFiles(attestation, envelope.body))
    throw new UntrueAnswer('the attestation is not about the files that it lists')
}

/** Requires that a statement is signed by a trusted key. */
export async function checkStatement(context: Context, envelope: EvidenceEnvelope): Promise<void> {
  const { issuer_pubkey, body } = envelope
  const signed = { use: 'evidence-envelope', at: unixSeconds(body.issued_at) }
  await requireTrusted(context, issuer_pubkey, 'the attestation', signed)
  const key = ed25519PublicKeyFromHex(issuer_pubkey ?? '')
  if (!key || !isValid(() => isStatementSignedBy(key, envelope, context.domainTag)))
    throw new UntrueAnswer('the signature of the attestation is invalid')
}

/**
 * Requires that a proof leads from the file to the root in a tree with the statement's number of files. Without a
 * statement the proof is compared with itself, which only shows that it is consistent.
 */
export function checkProof(proof: InclusionProof, filename: string, statement: EvidenceEnvelope | null): void {
  const { merkle_root, file_count } = statement?.body ?? proof
  const { file_entry, leaf_hash, leaf_index, proof: steps } = proof
  const isOnItsSide = ({ position }: ProofStep, level: number) =>
    position === (Math.floor(leaf_index / 2 ** level) % 2 === 1 ? 'left' : 'right')
  const isInTree = () =>
    file_entry.filename === filename &&
    leafHash(file_entry) === leaf_hash &&
    foldProof(leaf_hash, steps) === bare(merkle_root) &&
    proof.merkle_root === merkle_root &&
    proof.file_count === file_count &&
    steps.length === treeDepth(file_count) &&
    leaf_index < file_count &&
    steps.every(isOnItsSide)
  if (!isValid(isInTree))
    throw new UntrueAnswer(`the proof of ${JSON.stringify(filename)} does not lead to the root of its statement`)
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

/** Requires that all fields of a receipt are signed by a trusted key. */
export async function checkReceipt(context: Context, receipt: SignedReceipt): Promise<void> {
  const { receipt_signer_pubkey, confirmed_at } = receipt
  await requireTrusted(context, receipt_signer_pubkey, 'the receipt', { use: 'receipt', at: unixSeconds(confirmed_at) })
  const key = ed25519PublicKeyFromHex(receipt_signer_pubkey)
  if (!key || !isValid(() => isReceiptSignedBy(key, receipt)))
    throw new UntrueAnswer('the signature of the receipt is invalid')
}

/** Requires that a receipt and a statement have the same proof id. Receipts of older gateways have none. */
export function requireSameProof({ proof_id }: SignedReceipt, { body }: EvidenceEnvelope): void {
  if (proof_id === undefined || body.proof_id === proof_id) return
  throw new UntrueAnswer('the proof id of the attestation is not that of the receipt')
}

/** Runs a signature check. A value without a canonical form makes it throw, and cannot have been signed. */
function isValid(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}
