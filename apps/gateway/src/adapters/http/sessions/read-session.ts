// Responses about an upload session: its status, and the result of a finalization.

import type { FinalizedUpload, UploadSessionStatus } from '@svc/api/upload-sessions'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../../../context.ts'
import type { Db } from '../../../db/schema.ts'
import { closeOver, isOver } from '../../../files/parts/close-session.ts'
import { sessionNotFound } from '../../../files/parts/errors.ts'
import { findGaps } from '../../../files/parts/part-store.ts'
import { findSession, findSessionFiles, type Session, type SessionFile } from '../../../files/parts/store.ts'
import { isComplete } from '../../../files/parts/store-file.ts'
import { isViewable } from '../../../files/parts/view.ts'
import { viewerUrl } from '../../../pages/viewer-url.ts'

type FinalizedFile = FinalizedUpload['files'][number]

/**
 * Closes an expired session first, so that the answer does not depend on the sweep. Does not close it while the
 * database is behind.
 */
export async function readSession(context: Context, session: Session): Promise<UploadSessionStatus> {
  if (!isOver(session, unixNow(context)) || !(await context.continuity.isCurrent()))
    return sessionStatus(context, session)
  await closeOver(context, session.session_id)
  return sessionStatus(context, (await findSession(context.database.db, session.session_id)) ?? session)
}

/** Every caller that finalizes the session gets the same answer. */
export async function finalizeUpload(context: Context, sessionId: string): Promise<FinalizedUpload> {
  await context.finalizeSession(sessionId)
  const session = await findSession(context.database.db, sessionId)
  if (!session) throw sessionNotFound()
  return finalizedUpload(context, session)
}

async function finalizedUpload(context: Context, session: Session): Promise<FinalizedUpload> {
  const { session_id, status } = session
  const files = await findSessionFiles(context.database.db, session_id)
  const missing = await missingParts(context.database.db, session_id, files)
  return {
    session_id,
    status,
    files: files.map((file) => finalizedFile(file, missing.get(file.file_id) ?? [])),
    viewer_url: viewerUrlOf(context, session, files),
  }
}

async function sessionStatus(context: Context, session: Session): Promise<UploadSessionStatus> {
  const { session_id, locker_id, status, expires_at } = session
  const files = await findSessionFiles(context.database.db, session_id)
  const missing = await missingParts(context.database.db, session_id, files)
  return {
    session_id,
    locker_id,
    status,
    expires_at: isoSeconds(expires_at),
    files: files.map(({ file_id, filename, received_bytes, part_count, state }) => ({
      file_id,
      filename,
      received_bytes,
      parts: part_count,
      state,
      missing_parts: missing.get(file_id) ?? [],
    })),
    viewer_url: viewerUrlOf(context, session, files),
  }
}

function finalizedFile(file: SessionFile, missing_parts: number[]): FinalizedFile {
  const { file_id, filename, state, received_bytes, content_hash } = file
  if (state === 'stored' && content_hash !== null) {
    return { file_id, filename, ok: true, size_bytes: received_bytes, content_hash }
  }
  const fault = faultOf(file, missing_parts)
  return { file_id, filename, ok: false, ...fault, ...(missing_parts.length > 0 && { missing_parts }) }
}

function faultOf(file: SessionFile, missing: readonly number[]): { error: string; message: string } {
  const { error, expected_hash, content_hash, size_bytes, received_bytes } = file
  if (error === 'HASH_MISMATCH') {
    return { error, message: `the bytes are ${content_hash}, not ${expected_hash}` }
  }
  if (error === 'PRECONDITION_FAILED') return { error, message: 'a file with this name already exists' }
  if (error === 'SESSION_CLOSED') return { error, message: 'the session ended before the file was complete' }
  if (error === null && isComplete(file)) {
    return { error: 'CONTENT_HASH_CHANGED', message: 'parts were replaced while the file was being assembled' }
  }
  const message =
    missing.length > 0
      ? `parts are missing: ${missing.slice(0, 10).join(', ')}${missing.length > 10 ? ', …' : ''}`
      : size_bytes === null
        ? 'no part was received'
        : `${received_bytes} of ${size_bytes} bytes were received`
  return { error: 'CONTENT_NOT_FOUND', message }
}

const MAX_GAPS = 1000
const MAX_MISSING = 100

/** The first missing indexes of each file that has gaps. */
async function missingParts(db: Db, sessionId: string, files: readonly SessionFile[]): Promise<Map<string, number[]>> {
  const missing = new Map<string, number[]>()
  const withGaps = files.filter(({ state, part_count, top_index }) => state === 'open' && part_count <= top_index)
  if (withGaps.length === 0) return missing
  const ids = withGaps.map(({ file_id }) => file_id)
  for (const { file_id, from, to } of await findGaps(db, sessionId, ids, MAX_GAPS)) {
    const known = missing.get(file_id) ?? []
    for (let i = from; i < to && known.length < MAX_MISSING; i++) known.push(i)
    missing.set(file_id, known)
  }
  return missing
}

/** Not the public link: it would open the whole locker to a client that may only upload (T-49). */
function viewerUrlOf(context: Context, session: Session, files: readonly SessionFile[]): string | null {
  const first = files.find(({ state }) => state === 'stored')
  return first && isViewable(context, session)
    ? viewerUrl(context, context.viewId(session.session_id), first.filename)
    : null
}
