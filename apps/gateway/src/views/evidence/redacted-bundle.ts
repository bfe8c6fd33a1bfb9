// `GET /v1/storage/redacted-bundle`: evidence that names neither the receipt nor any file except the requested ones
// (ADD-18).

import type { RedactedBundle } from '@svc/api/proofs'
import { bare } from '@svc/protocol/bytes'
import { BLOCK_LEAVES, leafHash } from '@svc/protocol/merkle'
import { type Redaction, redactedHead, type ShownFile } from '@svc/protocol/redacted-bundle'
import { JsonText } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import type { AttestationRecord } from '../../evidence/record.ts'
import { proveFile } from '../../evidence/snapshots/prove-file.ts'
import { answerInPieces, filesOf, withList } from '../../evidence/view.ts'
import { listSigningKeys } from '../../keys/signing-keys.ts'
import { bundleLog } from './bundle-log.ts'
import { fileNotAttested, limitLong, namesReceipt, readAttested } from './read-evidence.ts'

interface Wanted {
  receipt_id: string
  filename?: string[]
  sequence?: number
}

export async function readRedactedBundle(
  context: Context,
  wire: WireRequest,
  { receipt_id, filename, sequence }: Wanted,
) {
  const { record } = await readAttested(context, receipt_id, sequence)
  if (filename) return bundleOfFiles(context, wire, record, [...new Set(filename)])
  const head = await headOf(context, record, 'no_names')
  await limitLong(context, wire, record)
  return answerInPieces<RedactedBundle>(record, withList(head, 'leaf_hashes', leaves(context, record)))
}

/** The bundle of these files only. */
export async function bundleOfFiles(
  context: Context,
  wire: WireRequest,
  record: AttestationRecord,
  filenames: readonly string[],
): Promise<JsonText<RedactedBundle>> {
  requireNoReceipt(record, filenames)
  const head = await headOf(context, record, 'chosen_files')
  // The first proof of a block reads all of the block.
  await limitLong(context, wire, record, filenames.length * BLOCK_LEAVES)
  const files = await proveFiles(context, record, filenames)
  return new JsonText<RedactedBundle>(JSON.stringify({ ...head, files }))
}

async function headOf(context: Context, of: AttestationRecord, redaction: Redaction) {
  const { receiptId, record, anchor, anchorAbsence } = of
  const { envelope } = record
  if (!envelope) throw notRedactable(receiptId)
  const { endorsements = [], revocations = [] } = await listSigningKeys(context)
  const key_changes = { endorsements, revocations }
  const log = await bundleLog(context, envelope)
  const stated = { envelope, anchor, anchor_absence: anchorAbsence ?? undefined, log, key_changes }
  return redactedHead(redaction, stated, context.config.evidence.domainTag)
}

async function* leaves({ database }: Context, record: AttestationRecord): AsyncGenerator<string> {
  for await (const files of filesOf(database.db, record)) yield files.map((file) => `"${leafHash(file)}"`).join()
}

async function proveFiles(context: Context, record: AttestationRecord, filenames: readonly string[]) {
  const shown: ShownFile[] = []
  for (const filename of filenames) {
    const proven = await proveFile(context, record.snapshotKey, filename)
    if (!proven) throw fileNotAttested(record.receiptId, filename)
    const { file, leafIndex, proof } = proven
    const { size_bytes, content_hash } = file
    shown.push({ filename, size_bytes, content_hash: bare(content_hash), leaf_index: leafIndex, proof })
  }
  return shown.sort((a, b) => a.leaf_index - b.leaf_index)
}

function requireNoReceipt(record: AttestationRecord, filenames: readonly string[]): void {
  const named = filenames.findIndex((filename) => namesReceipt(record, filename))
  if (named === -1) return
  throw new ValidationError({ loc: ['query', 'filename', named], msg: 'must not name the receipt or its locker' })
}

function notRedactable(receiptId: string): ServiceError {
  return new ServiceError('attestation_not_available', 'a record of the oracle era cannot be redacted', {
    hint: `make a statement first: POST /v1/storage/attest?receipt_id=${encodeURIComponent(receiptId)}`,
  })
}
