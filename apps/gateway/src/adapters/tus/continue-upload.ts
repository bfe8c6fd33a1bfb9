// PATCH and DELETE on the URL of an upload.

import type { Bytes } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { requireWritable } from '../../auth/restrictions.ts'
import type { Context } from '../../context.ts'
import { maxObjectBytes } from '../../files/objects.ts'
import { abortSession } from '../../files/parts/close-session.ts'
import { findSessionFile, lockSession, updateSessionFile } from '../../files/parts/store.ts'
import { AccessEnded, grantOf } from '../../lockers/access.ts'
import { uploadHeaders } from './answers.ts'
import { badHeader, offsetMismatch, tooLong, uploadFinished, uploadGone } from './errors.ts'
import { finishUpload, hasAllBytes } from './finish.ts'
import { headerOf, headersOnly, numberOf, requireChunk, requireVersion } from './headers.ts'
import { requireUpload, type Upload } from './upload.ts'
import { appendBody } from './write-upload.ts'

export async function patchUpload(context: Context, uploadId: string, wire: WireRequest): Promise<Bytes> {
  requireVersion(wire)
  requireChunk(wire)
  const offset = numberOf(wire, 'Upload-Offset')
  if (offset === null) throw badHeader('Upload-Offset', 'is required')
  const length = numberOf(wire, 'Upload-Length')
  const { session } = await requireAt(context, uploadId, offset)
  return context.lockUpload(session.session_id, async (signal) => {
    await setLength(context, await requireAt(context, uploadId, offset), length)
    const upload = await requireAt(context, uploadId, offset)
    await appendBody(context, upload, wire, signal)
    const after = await requireUpload(context, uploadId)
    const file = hasAllBytes(after.file) ? await finishUpload(context, after) : after.file
    return headersOnly(204, uploadHeaders({ ...after, file }))
  })
}

/** Requires that the upload is at this offset. A request with another offset does not disturb the one in progress. */
async function requireAt(context: Context, uploadId: string, offset: number): Promise<Upload> {
  const upload = await requireUpload(context, uploadId)
  if (upload.tus.kind === 'final')
    throw uploadFinished('a final upload is joined from other uploads and accepts no bytes')
  requireWritable(upload.session)
  if (upload.file.received_bytes !== offset) throw offsetMismatch(upload.file.received_bytes)
  if (upload.file.state === 'stored') throw uploadFinished('this upload is finished and accepts no more bytes')
  return upload
}

/** Sets a deferred length, once. */
async function setLength(context: Context, { session, file }: Upload, length: number | null): Promise<void> {
  if (length === null || length === file.size_bytes) return
  if (file.size_bytes !== null) throw badHeader('Upload-Length', `is ${file.size_bytes} already`)
  const max = maxObjectBytes(context, session.provider)
  if (length > max) throw tooLong(max)
  if (length < file.received_bytes) throw badHeader('Upload-Length', `must be ${file.received_bytes} or more`)
  await context.database.commit(async (tx) => {
    await lockSession(tx, session.session_id)
    const current = await findSessionFile(tx, session.session_id, file.file_id)
    if (current?.revision !== file.revision || current.size_bytes !== null) throw offsetMismatch(file.received_bytes)
    await updateSessionFile(tx, file, { size_bytes: length, revision: file.revision + 1 })
  })
}

export async function deleteUpload(context: Context, uploadId: string, wire: WireRequest): Promise<Bytes> {
  requireVersion(wire)
  const { session } = await requireUpload(context, uploadId)
  return context.lockUpload(session.session_id, async () => {
    const { file } = await requireUpload(context, uploadId)
    if (file.state === 'stored') throw uploadFinished('this upload is finished and its file is in the locker')
    const outcome = await abortSession(context, session.session_id, grantOf(session)).catch((error: unknown) => {
      throw error instanceof AccessEnded ? uploadGone() : error
    })
    if (outcome === 'finalizing') throw uploadFinished('the file of this upload is being stored')
    return headersOnly(204, {})
  })
}

/** For environments that cannot send PATCH or DELETE. */
export function overriddenMethod(context: Context, uploadId: string, wire: WireRequest): Promise<Bytes> {
  requireVersion(wire)
  const method = headerOf(wire, 'X-HTTP-Method-Override')
  if (method === 'PATCH') return patchUpload(context, uploadId, wire)
  if (method === 'DELETE') return deleteUpload(context, uploadId, wire)
  throw new ServiceError('method_not_allowed', 'X-HTTP-Method-Override must be PATCH or DELETE', {
    hint: 'send PATCH, or POST with X-HTTP-Method-Override: PATCH or DELETE',
    headers: { allow: 'GET, HEAD, PATCH, DELETE' },
  })
}
