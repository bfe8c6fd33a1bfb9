// A tus upload is an upload session with one file. Its URL ends with the session's token, so that every client that has
// the URL can continue the upload while the key behind the session has access.

import { type Context, unixNow } from '../../context.ts'
import { acceptsParts } from '../../files/parts/record-parts.ts'
import { isTokenOf, sessionIdOf } from '../../files/parts/session-token.ts'
import { findSession, findSessionFile, type Session, type SessionFile } from '../../files/parts/store.ts'
import { grantOf, isGranted } from '../../lockers/access.ts'
import { uploadGone, uploadNotFound } from './errors.ts'
import { findTusRow, type TusRow } from './store.ts'

export const FILE_ID = 'f_0001'
/** Counted from creation. The token that created the upload may expire long before. */
export const TTL_SECONDS = 86_400

export interface Upload {
  session: Session
  file: SessionFile
  tus: TusRow
}

export function isUploadId(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text)
}

/** Finds the upload of a URL, in any state. */
export async function findUpload(context: Context, uploadId: string): Promise<Upload> {
  const { db } = context.database
  if (!isUploadId(uploadId)) throw uploadNotFound()
  const sessionId = sessionIdOf(uploadId)
  const session = await findSession(db, sessionId)
  if (session?.door !== 'tus' || !isTokenOf(session, uploadId)) throw uploadNotFound()
  const [file, tus] = [await findSessionFile(db, sessionId, FILE_ID), await findTusRow(db, sessionId)]
  if (!file || !tus) throw uploadNotFound()
  return { session, file, tus }
}

/** Finds an upload that is open or stored. A stored upload can be read until the sweep deletes it. */
export async function requireUpload(context: Context, uploadId: string): Promise<Upload> {
  const upload = await findUpload(context, uploadId)
  const { session, file } = upload
  if (!isGranted(session, grantOf(session))) throw uploadGone()
  if (file.state === 'stored') return upload
  if (file.state === 'failed' || !acceptsParts(session, unixNow(context)) || hasGaps(file)) throw uploadGone()
  return upload
}

/** Whether storage has lost a part. A tus client cannot send bytes in the middle again. */
function hasGaps({ part_count, top_index }: SessionFile): boolean {
  return part_count !== top_index + 1
}
