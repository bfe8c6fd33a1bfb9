import type { Body } from '@svc/api/endpoint'
import type { openUploadSession, UploadSession } from '@svc/api/upload-sessions'
import { isoSeconds } from '@svc/protocol/evidence'
import { type LockerCaller, receiptMismatch } from '../../../auth/callers.ts'
import { limitSigner } from '../../../auth/limits.ts'
import type { Context } from '../../../context.ts'
import type { Locker } from '../../../db/schema.ts'
import { namesTaken } from '../../../files/errors.ts'
import { nameFiles } from '../../../files/name-files.ts'
import { maxObjectBytes } from '../../../files/objects.ts'
import { declaredTooLarge } from '../../../files/parts/errors.ts'
import { beginUpload, newSession, tooManyUnfinished } from '../../../files/parts/new-session.ts'
import { maxPartBytes } from '../../../files/parts/record-parts.ts'
import { insertSession, type SessionFile } from '../../../files/parts/store.ts'
import { findFiles } from '../../../files/store.ts'
import { grantTo } from '../../../lockers/access.ts'
import { requireQuota } from '../../../lockers/quota.ts'

type SessionRequest = Body<typeof openUploadSession>

/** A day, while URLs last half an hour: sessions serve slow connections and many parts. */
const DEFAULT_TTL_MINUTES = 1440

/** Counts all open sessions of a locker together. */
const MAX_OPEN_FILES = 10_000
const ENDING = {
  hint: 'finish a session and finalize it; finalizing a session without parts closes it',
  next: 'POST /v1/upload-sessions/{session_id}/finalize',
}

export async function openSession(
  context: Context,
  caller: LockerCaller,
  request: SessionRequest,
): Promise<UploadSession> {
  const { locker, signer } = caller
  if (request.receipt_id !== undefined && request.receipt_id !== locker.receipt_id) {
    throw receiptMismatch('the body names a receipt of another locker')
  }
  const requested = nameFiles(context, request.files, (i) => ['body', 'files', i])
  requireWithinLimit(request.files, maxObjectBytes(context, locker.provider))
  await limitSigner(context, signer)
  const announced = requested.map((file, i) => {
    const { size_bytes: sizeBytes = null, overwrite: mayReplace = true } = request.files[i]!
    return { ...file, sizeBytes, mayReplace }
  })
  await requireFreeNames(context, locker, announced)
  const named = announced.map(({ filename, sizeBytes }) => ({ filename, bytes: sizeBytes ?? 0 }))
  await requireQuota(context, locker, { named })
  const { token, session, files } = newSession(context, locker, {
    door: null,
    grant: grantTo(signer.identity, locker),
    ttlSeconds: (request.ttl_min ?? DEFAULT_TTL_MINUTES) * 60,
    files: announced,
  })
  const size = { files: files.length, most: MAX_OPEN_FILES }
  const isOpened = await beginUpload(context, session, size, (tx) => insertSession(tx, session, files))
  if (!isOpened) throw tooManyUnfinished(MAX_OPEN_FILES, ENDING)
  const { session_id: sessionId, expires_at: expiresAt } = session
  const partMaxBytes = maxPartBytes(context, locker.provider)
  return openedSession(context, { sessionId, token, expiresAt, partMaxBytes }, files)
}

function requireWithinLimit(files: SessionRequest['files'], maxBytes: number): void {
  const tooLarge = files.find(({ size_bytes = 0 }) => size_bytes > maxBytes)
  if (tooLarge) throw declaredTooLarge(tooLarge.filename, maxBytes)
}

/** Checked before the first byte is sent, and again in the transaction that stores a file. */
async function requireFreeNames(
  { database }: Context,
  { locker_id }: Pick<Locker, 'locker_id'>,
  announced: readonly { filename: string; mayReplace: boolean }[],
): Promise<void> {
  const names = announced.filter(({ mayReplace }) => !mayReplace).map(({ filename }) => filename)
  const files = await findFiles(database.db, locker_id, names)
  const [first, ...more] = files.filter(({ object_id }) => object_id !== null).map(({ filename }) => filename)
  if (first !== undefined) throw namesTaken([first, ...more])
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
