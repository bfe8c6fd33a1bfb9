// The end of an upload: its file is stored like the file of an upload session, and the response includes the outcome.

import { ServiceError } from '@svc/service/service-error'
import { requireWritable } from '../../auth/restrictions.ts'
import type { Context } from '../../context.ts'
import { dropPart } from '../../files/parts/open-parts.ts'
import { findSession, findSessionFile, type SessionFile } from '../../files/parts/store.ts'
import { joinTail, readProgress } from './blocks.ts'
import { checksumMismatch, nameTaken, uploadGone } from './errors.ts'
import { FILE_ID, type Upload } from './upload.ts'
import { recordAt } from './write-upload.ts'

/** Whether all bytes have arrived. */
export function hasAllBytes({ size_bytes, received_bytes }: SessionFile): boolean {
  return size_bytes === received_bytes
}

/** Stores the file of a complete upload. A partial upload only waits to be joined. */
export async function finishUpload(context: Context, upload: Upload): Promise<SessionFile> {
  const { session, file, tus } = upload
  if (tus.kind === 'partial' || file.state === 'stored') return file
  // HEAD also reaches this for a complete upload.
  await context.continuity.requireCurrent()
  await joinRest(context, upload)
  await context.finalizeSession(session.session_id)
  const after = await findSessionFile(context.database.db, session.session_id, FILE_ID)
  if (after?.state === 'stored') return after
  if (after?.error === 'HASH_MISMATCH') {
    throw checksumMismatch(
      `the file is ${after.content_hash}, not ${after.expected_hash}; it was not stored`,
      'create another upload with the right bytes',
    )
  }
  if (after?.error === 'PRECONDITION_FAILED') throw nameTaken(after.filename)
  if (after?.state !== 'open') throw uploadGone()
  const current = await findSession(context.database.db, session.session_id)
  if (current) requireWritable(current)
  throw notStored()
}

/** The length of an upload may be set after its last byte: then its tail is not merged yet. */
async function joinRest(context: Context, upload: Upload): Promise<void> {
  if (upload.tus.kind === 'final') return
  const progress = await readProgress(context, upload)
  if (progress.tail.length < 2) return
  const part = await joinTail(context, upload, progress, [])
  try {
    await recordAt(context, upload, progress.offset, [part])
  } catch (error) {
    if (error instanceof ServiceError) await dropPart(context, upload.session, part)
    throw error
  }
}

function notStored(): ServiceError {
  const hint = 'send HEAD to the upload to retry storing the file'
  return new ServiceError('STORAGE_UNAVAILABLE', 'all bytes have arrived, but the file could not be stored yet', {
    hint,
    headers: { 'retry-after': '5' },
    details: { layer: 'gateway', recovery_hint: hint, next_best_method: 'HEAD /v1/tus/{upload_id}' },
  })
}
