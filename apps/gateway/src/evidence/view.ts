// The response format of an attestation. Its files are written piece by piece, because there may be a million of them.

import { setImmediate } from 'node:timers/promises'
import type { Attestation } from '@svc/api/attestations'
import type { LockerMetadata } from '@svc/api/lockers'
import { withPrefix } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { JsonStream, JsonText } from '@svc/service/http/answer'
import type { Context } from '../context.ts'
import type { Db } from '../db/schema.ts'
import type { AttestationRecord } from './record.ts'
import type { SnapshotFile, StoredFile } from './snapshots/chunk-content.ts'
import { type ShownFiles, shownFiles, snapshotFiles } from './snapshots/read-snapshot.ts'
import { findAttestation } from './store.ts'

export function verifyUrl({ config }: Context, receiptId: string): string {
  return `${config.http.baseUrl}/v1/storage/verify?receipt_id=${encodeURIComponent(receiptId)}`
}

/** The JSON of a complete attestation. */
export function attestationPieces(context: Pick<Context, 'database'>, of: AttestationRecord): AsyncGenerator<string> {
  return withFiles(attestationHead(of), of, context, attestedFile)
}

function attestationHead(of: AttestationRecord): Omit<Attestation, 'files'> {
  const { receiptId, lockerId, record, anchor, anchorError, anchorAbsence } = of
  return {
    receipt_id: receiptId,
    locker_id: lockerId,
    ...record,
    ...publicStatus(of),
    anchor,
    ...(anchorError && { last_anchor_error: anchorError }),
    ...(anchorAbsence && { anchor_absence: anchorAbsence }),
  }
}

/** A statement that is being published shows as `computed`; the facts have the details (ATT-23). */
export function publicStatus({ status }: AttestationRecord): { attestation_status?: 'computed' | 'complete' } {
  if (status === null) return {}
  return { attestation_status: status === 'complete' ? 'complete' : 'computed' }
}

/** Records of the oracle era have no content types. */
export function attestedFile({ nameAndSize, contentHash, contentType }: StoredFile): string {
  const type = contentType && `,"content_type":${JSON.stringify(contentType)}`
  return `{${nameAndSize},"content_hash":"${withPrefix(contentHash)}"${type}}`
}

/** The status of a receipt's attestation; null if none was ever requested. */
export async function attestationSummary(db: Db, receiptId: string): Promise<LockerMetadata['attestation']> {
  const known = await findAttestation(db, receiptId)
  if (!known) return null
  const { status, sequence, attested_at, proof_id } = known
  return {
    status: status ?? 'complete',
    evidence_seq: sequence,
    attested_at: attested_at === null ? null : isoSeconds(attested_at),
    proof_id,
  }
}

const MAX_FILES_IN_ONE_TEXT = 5000

export function isLong({ record }: AttestationRecord): boolean {
  return record.file_count > MAX_FILES_IN_ONE_TEXT
}

/** Returns one text if the files are few, otherwise a stream. */
export async function answerInPieces<B>(
  of: AttestationRecord | null,
  pieces: AsyncIterable<string>,
): Promise<JsonText<B> | JsonStream<B>> {
  return of && isLong(of) ? new JsonStream(pieces) : new JsonText(await wholeText(pieces))
}

async function wholeText(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

/** JSON of an object with a list of files at its end. `show` writes the JSON of a file. */
export function withFiles(
  head: object,
  of: AttestationRecord,
  { database }: Pick<Context, 'database'>,
  show: (file: StoredFile) => string,
): AsyncGenerator<string> {
  return withList(
    head,
    'files',
    textsOf(allOf(of, shownFiles(database.db, of.snapshotKey, show), ({ count }) => count)),
  )
}

async function* textsOf(pages: AsyncIterable<ShownFiles>): AsyncGenerator<string> {
  for await (const { text } of pages) yield text
}

/** JSON of an object with a list at its end. The entries are already JSON, separated by commas. */
export async function* withList(head: object, name: string, pages: AsyncIterable<string>): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"${name}":[`
  let separator = ''
  for await (const entries of pages) {
    yield separator + entries
    separator = ','
  }
  yield ']}'
}

export function filesOf(db: Db, of: AttestationRecord): AsyncGenerator<SnapshotFile[]> {
  return allOf(of, snapshotFiles(db, of.snapshotKey), (files) => files.length)
}

/** Yields to other requests between pages. Throws at the end if files are missing, so that no short list is valid. */
async function* allOf<Page>(
  { snapshotKey, record }: AttestationRecord,
  pages: AsyncIterable<Page>,
  countOf: (page: Page) => number,
): AsyncGenerator<Page> {
  let count = 0
  for await (const page of pages) {
    if (count > 0) await setImmediate()
    count += countOf(page)
    yield page
  }
  if (count !== record.file_count) throw new Error(`snapshot ${snapshotKey} has ${count} of ${record.file_count} files`)
}
