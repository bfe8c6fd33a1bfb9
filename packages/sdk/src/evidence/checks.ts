import type { Attestation } from '@svc/api/attestations'
import { bare } from '@svc/protocol/bytes'
import { type EvidenceBody, isStatementSignedBy } from '@svc/protocol/evidence'
import { manifestDigest, snapshotId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { leafHash, merkleRoot } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import { isReceiptSignedBy, type SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import { journalEntry } from '../journal.ts'

/** Requires that a statement is signed by a trusted key and covers exactly the listed files. */
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
  const { receipt_signer_pubkey } = receipt
  await requireTrusted(context, receipt_signer_pubkey, 'the receipt')
  const key = ed25519PublicKeyFromHex(receipt_signer_pubkey)
  if (!key || !isReceiptSignedBy(key, receipt)) throw new UntrueAnswer('the signature of the receipt does not hold')
}

/** The pinned keys, or else the keys that this service showed first. */
async function trustedKeys(context: Context): Promise<readonly string[]> {
  const { pinnedKeys, journal, baseUrl, warn } = context
  if (pinnedKeys.length > 0) return pinnedKeys
  const entry = journalEntry<string[]>(journal, `keys ${baseUrl}`)
  const known = await entry.read()
  if (known) return known
  const seen = [...new Set(await context.service.readKeys(context))]
  if (!(await entry.write(seen))) return trustedKeys(context)
  warn(`Trusting the keys that ${baseUrl} shows of itself: ${seen.join(', ')}. Pin them to be sure.`)
  return seen
}

export async function requireTrusted(context: Context, publicKeyHex: string | null, what: string): Promise<void> {
  if (publicKeyHex !== null && (await trustedKeys(context)).includes(publicKeyHex)) return
  throw new UntrueAnswer(`${what} is signed by ${publicKeyHex ?? 'nobody'}, which is not a trusted key`)
}
