import type { TusUpload } from '@svc/api/tus'
import { isoSeconds } from '@svc/protocol/evidence'
import { Answer, type Bytes } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Context } from '../../context.ts'
import { creationHeaders, uploadHeaders } from './answers.ts'
import { finishUpload, hasAllBytes } from './finish.ts'
import { headersOnly, requireVersion } from './headers.ts'
import { requireUpload } from './upload.ts'

/**
 * HEAD interrupts a request in progress, because its client is asking where to resume, and then returns the durable
 * offset. An upload is reported as complete only once its file is stored.
 */
export async function headUpload(context: Context, uploadId: string, wire: WireRequest): Promise<Bytes> {
  requireVersion(wire)
  const { session } = await requireUpload(context, uploadId)
  const upload = await context.lockUpload(session.session_id, async () => {
    const current = await requireUpload(context, uploadId)
    return hasAllBytes(current.file) ? { ...current, file: await finishUpload(context, current) } : current
  })
  return headersOnly(200, { ...uploadHeaders(upload), ...creationHeaders(upload) })
}

/** The status as JSON. Unlike HEAD, it does not interrupt a request in progress. */
export async function readUpload(context: Context, uploadId: string): Promise<Answer<TusUpload>> {
  const upload = await requireUpload(context, uploadId)
  const { session, file, tus } = upload
  const isPartial = tus.kind === 'partial'
  const state = file.state === 'stored' ? (isPartial ? 'joined' : 'stored') : 'open'
  const status: TusUpload = {
    state,
    offset: file.received_bytes,
    length: file.size_bytes,
    expires_at: isoSeconds(session.expires_at),
    filename: isPartial ? null : file.filename,
    content_hash: file.content_hash,
  }
  return new Answer(200, status, { ...uploadHeaders(upload), ...creationHeaders(upload) })
}
