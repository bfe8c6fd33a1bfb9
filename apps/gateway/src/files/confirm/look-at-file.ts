import { ServiceError } from '@svc/http-service/service-error'
import type { FileRow, Locker } from '../../db/schema.ts'
import { currentBytes } from '../current-bytes.ts'
import { contentNotFound, hashMismatch } from '../errors.ts'
import { storageTrouble } from '../objects.ts'
import type { FilesContext } from '../room.ts'
import type { Reading } from './hash-object.ts'

type ConfirmedRow = FileRow & { size_bytes: number; content_hash: string; hash_recorded_at: string }

/** What is recorded of a file, or why nothing is. */
export type Outcome = ConfirmedRow | ServiceError

/** What to say of a file for as long as it points at this object. */
export interface Sight {
  filename: string
  objectId: string
  /** To be recorded, or what is wrong with the bytes. */
  verdict: Reading | ServiceError
}

export async function lookAtFile(context: FilesContext, locker: Locker, file: FileRow): Promise<Outcome | Sight> {
  // Where a client was sent to the provider, newer bytes may be there than those that are recorded.
  if (isConfirmed(file) && file.upload_object_id === null) return file
  try {
    const current = await currentBytes(context, locker, file)
    if (!current) return contentNotFound(locker.locker_id, file.filename)
    if (isConfirmed(current.file)) return current.file
    const reading = await context.hashObject(locker.provider, current.key)
    return { filename: file.filename, objectId: current.key.id, verdict: judge(current.file, reading) }
  } catch (error) {
    const trouble = storageTrouble(error)
    if (trouble instanceof ServiceError) return trouble
    throw error
  }
}

/** Size, hash and time are recorded together. */
export function isConfirmed(file: FileRow): file is ConfirmedRow {
  return file.content_hash !== null
}

function judge({ locker_id, filename, expected_hash }: FileRow, reading: Reading | null): Reading | ServiceError {
  if (!reading) return contentNotFound(locker_id, filename)
  if (expected_hash === null || expected_hash === reading.contentHash) return reading
  return hashMismatch(filename, expected_hash, reading.contentHash)
}
