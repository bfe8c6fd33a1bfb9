// A statement as everybody may read it. Its files come piece by piece: there may be a million of them.

import { setImmediate } from 'node:timers/promises'
import type { Attestation, AttestedFile } from '@svc/api/attestations'
import { JsonStream, JsonText } from '@svc/http-service/answer'
import type { Context } from '../context.ts'
import { jsonItems } from '../files/lists/file-pages.ts'
import type { AttestationRecord } from './record.ts'
import type { SnapshotFile } from './snapshots/chunk-content.ts'
import { snapshotFiles } from './snapshots/snapshot-files.ts'

function attestationHead(of: AttestationRecord): Omit<Attestation, 'files'> {
  const { receiptId, lockerId, record, anchor, anchorError } = of
  return {
    receipt_id: receiptId,
    locker_id: lockerId,
    ...record,
    ...publicStatus(of),
    anchor,
    ...(anchorError && { last_anchor_error: anchorError }),
  }
}

/** That a statement is on its way to the chain shows in the facts; the status has no word for it (AMB-35). */
export function publicStatus({ status }: AttestationRecord): { attestation_status?: 'computed' | 'complete' } {
  if (status === null) return {}
  return { attestation_status: status === 'complete' ? 'complete' : 'computed' }
}

/** Of the oracle era, nobody knows the content types. */
export function attestedFile({ content_type, ...file }: AttestedFile): AttestedFile {
  return content_type ? { ...file, content_type } : file
}

/** JSON of a whole attestation. */
export function attestationPieces(context: Pick<Context, 'database'>, of: AttestationRecord): AsyncGenerator<string> {
  return withFiles(attestationHead(of), of, context, attestedFile)
}

const MOST_AT_ONCE = 5000

export function isLong({ record }: AttestationRecord): boolean {
  return record.file_count > MOST_AT_ONCE
}

/** As one text where the files are few. */
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

/** JSON of an object with a list of files at its end. */
export async function* withFiles(
  head: object,
  of: AttestationRecord,
  { database }: Pick<Context, 'database'>,
  show: (file: SnapshotFile) => object,
): AsyncGenerator<string> {
  async function* shown() {
    for await (const files of filesOf(database.db, of)) yield files.map(show)
  }
  yield `${JSON.stringify(head).slice(0, -1)},"files":[`
  yield* jsonItems(shown())
  yield ']}'
}

/** Others get their turn in between. Throws at the end where files are missing: a short list would be a lie. */
export async function* filesOf(
  db: Context['database']['db'],
  { snapshotKey, record }: AttestationRecord,
): AsyncGenerator<SnapshotFile[]> {
  let count = 0
  for await (const files of snapshotFiles(db, snapshotKey)) {
    if (count > 0) await setImmediate()
    count += files.length
    yield files
  }
  if (count !== record.file_count) throw new Error(`snapshot ${snapshotKey} has ${count} of ${record.file_count} files`)
}
