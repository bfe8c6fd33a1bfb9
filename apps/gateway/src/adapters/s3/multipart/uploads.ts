// The multipart uploads of a locker: upload sessions with one file and no token. Every credential of the locker lists
// all of them. An upload ends with the access of the key that began it.

import { type S3Error, s3Error } from '@svc/s3/errors'
import { type Context, unixNow } from '../../../context.ts'
import { isLeased } from '../../../files/parts/close-session.ts'
import { findSession, findSessionFile, type Session, type SessionFile } from '../../../files/parts/store.ts'
import { grantOf, isGranted } from '../../../lockers/access.ts'
import type { S3Caller } from '../caller.ts'
import type { S3Request } from '../request.ts'

export interface Upload {
  session: Session
  file: SessionFile
}

/** The id of the only file. */
export const FILE_ID = 'f_0001'

/** Finds an upload in progress. */
export async function requireUpload(context: Context, request: S3Request, caller: S3Caller): Promise<Upload> {
  const upload = await findUpload(context, request, caller)
  if (!upload || !isInProgress(upload.session, unixNow(context))) throw noSuchUpload()
  return upload
}

/** Finds an upload, including one that has ended. */
export async function findUpload(
  { database: { db } }: Context,
  { key, query }: S3Request,
  { locker }: S3Caller,
): Promise<Upload | null> {
  const id = query.get('uploadId') ?? ''
  const session = /^us_[0-9a-f]{32}$/.test(id) ? await findSession(db, id) : null
  if (session?.door !== 's3' || session.locker_id !== locker.locker_id) return null
  const file = await findSessionFile(db, id, FILE_ID)
  return file?.filename === key ? { session, file } : null
}

/** An upload stays in progress while it is being completed. */
export function isInProgress(session: Session, now: number): boolean {
  if (session.closed_at !== null) return false
  return isLeased(session, now) || (now < session.expires_at && isGranted(session, grantOf(session)))
}

export function noSuchUpload(): S3Error {
  return s3Error(
    'NoSuchUpload',
    'this key has no such upload: it was completed, was aborted, or has expired',
    'create another upload',
  )
}

export const MAX_PART_NUMBER = 10_000

export function readPartNumber(text: string | undefined): number {
  const number = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0
  if (number >= 1 && number <= MAX_PART_NUMBER) return number
  throw s3Error('InvalidArgument', `partNumber must be a whole number from 1 to ${MAX_PART_NUMBER}`)
}
