import { type FilesRenamed, fileUrls, renameFiles } from '@svc/api/files'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { isGatewayError } from '../errors.ts'
import type { Locker } from '../lockers.ts'
import { requireName } from './filename.ts'

export interface Rename {
  filename: string
  newFilename: string
  /** The hash that the file must have, with or without `sha256:`. */
  expectedHash?: string
}

export interface RenameOptions {
  /** Whether files that have the new names are replaced. */
  overwrite?: boolean
  signal?: AbortSignal | undefined
}

/** Renames up to a thousand files, all or none. No bytes move, and hashes do not change. From gateway 1.1.0 on. */
export async function rename(
  context: Context,
  locker: Locker,
  renames: readonly Rename[],
  { overwrite = false, signal }: RenameOptions = {},
): Promise<FilesRenamed> {
  const { locker_id } = locker
  for (const { newFilename } of renames) requireName(newFilename)
  const files = renames.map(({ filename, newFilename, expectedHash }) => ({
    filename,
    new_filename: newFilename,
    ...(expectedHash !== undefined && { expected_hash: expectedHash }),
  }))
  try {
    return (await call(context, renameFiles, { params: { locker_id }, body: { files, overwrite }, signal })).body
  } catch (error) {
    // After a lost answer, the first attempt may have renamed them.
    if (!isGatewayError(error, 'FILE_NOT_FOUND') || error.attempts === 1) throw error
    const done = await findRenamed(context, locker, renames, signal)
    if (!done) throw error
    return done
  }
}

/** Null unless every file has its new name. */
async function findRenamed(
  context: Context,
  { locker_id }: Locker,
  renames: readonly Rename[],
  signal: AbortSignal | undefined,
): Promise<FilesRenamed | null> {
  const filenames = renames.map(({ newFilename }) => newFilename)
  const { body } = await call(context, fileUrls, { params: { locker_id }, body: { filenames }, signal })
  const found = new Map(body.urls.map((url) => [url.filename, url]))
  const files = renames.flatMap(({ filename, newFilename, expectedHash }) => {
    const { size_bytes, content_hash } = found.get(newFilename) ?? {}
    const isDone = content_hash && (expectedHash === undefined || content_hash.endsWith(expectedHash.toLowerCase()))
    if (!isDone || size_bytes === undefined) return []
    return [{ filename, new_filename: newFilename, size_bytes, content_hash, replaced: false }]
  })
  if (files.length < renames.length) return null
  return { ok: true, locker_id, files, count: files.length, reattest: 'skipped' }
}
