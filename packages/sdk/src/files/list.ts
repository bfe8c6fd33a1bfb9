// Lists and removes files of a locker, and lets the gateway fetch files.

import type { ManifestEntry } from '@svc/api/file-entries'
import { deleteFile, type FetchedFile, type FileDeleted, fetchAndStore, readManifest } from '@svc/api/files'
import { compareCodePoints } from '@svc/protocol/order'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { isGatewayError, NameTaken, UntrueAnswer } from '../errors.ts'
import type { Locker } from '../lockers.ts'
import { requireName } from './filename.ts'

const PAGE = 1000
/** A list that is out of order might never end. */
const NO_LIST = 'the pages of the file list do not follow each other'

/** Lists every file with its metadata, in code-point order of names, page by page. */
export async function* files(
  context: Context,
  { locker_id }: Locker,
  { signal }: { signal?: AbortSignal } = {},
): AsyncGenerator<ManifestEntry> {
  let last: string | null = null
  for (let cursor: string | undefined; ; ) {
    const query = { limit: PAGE, ...(cursor && { cursor }) }
    const { body } = await call(context, readManifest, { params: { locker_id }, query, signal })
    for (const file of body.files) {
      if (last !== null && compareCodePoints(last, file.filename) >= 0) throw new UntrueAnswer(NO_LIST)
      last = file.filename
      yield file
    }
    cursor = body.next_cursor
    if (cursor === undefined) return
    if (body.files.length === 0) throw new UntrueAnswer(NO_LIST)
  }
}

/** The expected state of the file, as listed. A file that was uploaded again is not removed. From gateway 1.1.0 on. */
export interface RemoveOptions {
  /** With or without `sha256:`. */
  expectedHash?: string
  /** Null means that it has no bytes yet. */
  expectedUploadedAt?: string | null
}

/** Removes a file. After a lost answer, a missing file counts as removed. */
export async function remove(
  context: Context,
  { locker_id }: Locker,
  filename: string,
  { expectedHash, expectedUploadedAt }: RemoveOptions = {},
): Promise<FileDeleted> {
  requireName(filename)
  const query = {
    ...(expectedHash !== undefined && { expected_hash: expectedHash }),
    ...(expectedUploadedAt !== undefined && { expected_uploaded_at: expectedUploadedAt ?? 'none' }),
  }
  try {
    return (await call(context, deleteFile, { params: { locker_id, filename }, query })).body
  } catch (error) {
    if (!isGatewayError(error, 'FILE_NOT_FOUND') || error.attempts === 1) throw error
    return { ok: true, locker_id, filename, deleted: true, bytes_removed: false }
  }
}

/** Lets the gateway fetch a public https URL into a file. */
export async function fetchInto(
  context: Context,
  { locker_id, receipt_id }: Locker,
  filename: string,
  source_url: string,
  { contentType, overwrite, signal }: { contentType?: string; overwrite?: boolean; signal?: AbortSignal } = {},
): Promise<FetchedFile> {
  requireName(filename)
  const type = contentType !== undefined && { content_type: contentType }
  const body = { locker_id, receipt_id, filename, source_url, ...type, ...(overwrite !== undefined && { overwrite }) }
  try {
    return (await call(context, fetchAndStore, { body, signal })).body
  } catch (error) {
    throw isGatewayError(error, 'PRECONDITION_FAILED') ? new NameTaken(filename) : error
  }
}
