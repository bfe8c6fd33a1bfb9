// `GET /v1/storage/verification-bundle`: payment and content together, and how to check both by hand.

import type { VerificationBundle } from '@svc/api/proofs'
import { MERKLE_ALGORITHM, MERKLE_VERSION } from '@svc/protocol/names'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Context } from '../../context.ts'
import type { AttestationRecord } from '../../evidence/record.ts'
import { answerInPieces, attestedFile, publicStatus, withFiles } from '../../evidence/view.ts'
import { bundleLog } from './bundle-log.ts'
import { type Evidence, limitLong, readEvidence } from './read-evidence.ts'

export async function readVerificationBundle(
  context: Context,
  wire: WireRequest,
  { receipt_id, sequence }: { receipt_id: string; sequence?: number },
) {
  const evidence = await readEvidence(context, receipt_id, sequence)
  await limitLong(context, wire, evidence.record)
  return answerInPieces<VerificationBundle>(evidence.record, pieces(context, evidence))
}

async function* pieces(context: Context, { receipt, record }: Evidence): AsyncGenerator<string> {
  const head = { schema_version: MERKLE_VERSION, receipt_id: receipt.receipt_id, payment_proof: paymentProof(receipt) }
  yield `${JSON.stringify(head).slice(0, -1)},"content_proof":`
  if (record) yield* withFiles(contentProof(record), record, context, attestedFile)
  else yield 'null'
  const log = await statementLog(context, record)
  yield `,${JSON.stringify({ ...(log && { log }), algorithm: ALGORITHM, steps: STEPS }).slice(1)}`
}

async function statementLog(context: Context, record: AttestationRecord | null): Promise<VerificationBundle['log']> {
  const envelope = record?.record.envelope
  const log = await bundleLog(context, envelope)
  return envelope && log && { statement_digest: envelope.statement_digest, ...log }
}

function paymentProof(receipt: SignedReceipt): VerificationBundle['payment_proof'] {
  const { paid_amount, pay_asset, paid_raw, confirmed_at, network, tx_hash, payer_pubkey } = receipt
  const isSol = pay_asset === 'SOL'
  return {
    paid_amount,
    pay_asset,
    paid_raw,
    confirmed_at,
    network,
    tx_hash,
    payer_pubkey,
    amount_sol: isSol ? paid_amount : null,
    amount_lamports: isSol ? Number(paid_raw) : null,
  }
}

type ContentProof = NonNullable<VerificationBundle['content_proof']>

function contentProof(of: AttestationRecord): Omit<ContentProof, 'files'> {
  const { merkle_root, result_hash, file_count, total_bytes, manifest_signature, attested_at } = of.record
  return {
    locker_id: of.lockerId,
    merkle_root,
    result_hash,
    file_count,
    total_bytes,
    manifest_signature,
    ...publicStatus(of),
    attested_at,
    anchor: of.anchor,
  }
}

const ALGORITHM = {
  name: MERKLE_ALGORITHM,
  hash: 'sha256',
  leaf: '{filename}:{size_bytes}:{content_hash}',
  parent: 'sha256_hex(left_hex + right_hex)',
  sort: 'code point order of filename',
  odd: 'duplicate last',
}

const STEPS = [
  'Look up payment_proof.tx_hash on its network, and see that it paid paid_raw from payer_pubkey.',
  'Download each file of content_proof.files, and see that its SHA-256 is content_hash and its length size_bytes.',
  'Hash the leaf of each file as algorithm says, with content_hash without its prefix, in the order of algorithm.sort.',
  'Pair the hashes level by level up to one, and see that it is merkle_root and that there were file_count leaves.',
  'Verify manifest_signature, by Ed25519 over the 64 characters of merkle_root without its prefix, with a key of the gateway that you have from elsewhere; one that begins with "unsigned:" proves nothing.',
]
