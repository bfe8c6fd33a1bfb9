import type { Body } from '@svc/api/endpoint'
import type { openUploadSession, UploadSession } from '@svc/api/upload-sessions'
import { isoSeconds } from '@svc/protocol/evidence'
import { type LockerCaller, receiptMismatch } from '../../auth/callers.ts'
import { limitSigner } from '../../auth/limits.ts'
import { type Context, unixNow } from '../../context.ts'
import { type NamedFile, nameFiles } from '../../files/name-files.ts'
import { maxObjectBytes } from '../../files/objects.ts'
import { requireRoomForFiles } from '../../files/require-room.ts'
import { grantTo, mintedRow } from '../../lockers/access.ts'
import { declaredTooLarge } from './errors.ts'
import { maxPartBytes } from './record-part.ts'
import { newUploadToken } from './session-token.ts'
import { insertSession, type SessionFile } from './store.ts'

type SessionRequest = Body<typeof openUploadSession>

/** A day, where URLs last half an hour: sessions serve slow lines and many parts. */
const DEFAULT_TTL_MINUTES = 1440

export async function openSession(
  context: Context,
  caller: LockerCaller,
  request: SessionRequest,
): Promise<UploadSession> {
  const { locker, signer } = caller
  if (request.receipt_id !== undefined && request.receipt_id !== locker.receipt_id) {
    throw receiptMismatch('the body names a receipt that is not of this locker')
  }
  const named = nameFiles(context, request.files, (i) => ['body', 'files', i])
  requireWithinLimit(request.files, maxObjectBytes(context, locker.provider))
  await limitSigner(context, signer)
  const announced = named.map(({ filename }, i) => ({ filename, bytes: request.files[i]?.size_bytes ?? 0 }))
  await requireRoomForFiles(context, locker, announced)
  const { token, sessionId, tokenHash } = newUploadToken(context)
  const files = named.map((file, i) => sessionFile(sessionId, i, file, request.files[i]?.size_bytes ?? null))
  const expires_at = unixNow(context) + (request.ttl_min ?? DEFAULT_TTL_MINUTES) * 60
  await insertSession(
    context.database.db,
    {
      session_id: sessionId,
      locker_id: locker.locker_id,
      token_hash: tokenHash,
      ...mintedRow(grantTo(signer.identity, locker)),
      status: 'partial',
      expires_at,
      closed_at: null,
      lease_id: null,
      lease_until: null,
    },
    files,
  )
  const partMaxBytes = maxPartBytes(context, locker.provider)
  return openedSession(context, { sessionId, token, expiresAt: expires_at, partMaxBytes }, files)
}

function requireWithinLimit(files: SessionRequest['files'], maxBytes: number): void {
  const tooLarge = files.find(({ size_bytes = 0 }) => size_bytes > maxBytes)
  if (tooLarge) throw declaredTooLarge(tooLarge.filename, maxBytes)
}

function sessionFile(sessionId: string, i: number, file: NamedFile, size_bytes: number | null): SessionFile {
  return {
    session_id: sessionId,
    file_id: `f_${String(i + 1).padStart(4, '0')}`,
    filename: file.filename,
    content_type: file.contentType,
    size_bytes,
    expected_hash: file.expectedHash,
    state: 'open',
    received_bytes: 0,
    part_count: 0,
    top_index: -1,
    revision: 0,
    content_hash: null,
    error: null,
    object_id: null,
    upload_ref: null,
    upload_state: null,
  }
}

function openedSession(
  { config }: Context,
  opened: { sessionId: string; token: string; expiresAt: number; partMaxBytes: number },
  files: readonly SessionFile[],
): UploadSession {
  const { sessionId, token, expiresAt, partMaxBytes } = opened
  const session = `${config.http.baseUrl}/v1/upload-sessions/${sessionId}`
  const partsUrl = (fileId: string) => `${session}/files/${fileId}/parts`
  return {
    session_id: sessionId,
    upload_token: token,
    status: 'partial',
    expires_at: isoSeconds(expiresAt),
    part_max_bytes: partMaxBytes,
    files: files.map(({ file_id, filename }) => ({ file_id, filename, parts_url: partsUrl(file_id) })),
    endpoints: { parts: partsUrl('{file_id}'), finalize: `${session}/finalize`, status: session },
  }
}
