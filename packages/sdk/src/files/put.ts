import { withPrefix } from '@svc/protocol/bytes'
import { sha256Stream } from '@svc/protocol/sha256'
import type { Context } from '../context.ts'
import { NameTaken } from '../errors.ts'
import type { Locker } from '../lockers.ts'
import { requireName } from './filename.ts'
import { putInOneRequest } from './put-in-one-request.ts'
import { putInParts } from './put-in-parts.ts'
import { findSame } from './session.ts'
import { readWhole, type Source, type SourceLike, sourceOf } from './source.ts'
import { type PutOptions, SMALL_FILE_BYTES, type StoredFile } from './upload.ts'

/**
 * Stores bytes as a file. A source that can be read again is hashed first, so that the gateway refuses other bytes and
 * an interrupted upload can be resumed, even by another process. Other sources are hashed during the upload.
 */
export async function put(
  context: Context,
  locker: Locker,
  filename: string,
  bytes: SourceLike,
  options: PutOptions = {},
): Promise<StoredFile> {
  requireName(filename)
  const source = sourceOf(bytes)
  const contentType = options.contentType ?? source.contentType ?? 'application/octet-stream'
  const upload = { locker, filename, contentType, options }
  // Only a session separates name, type and hash from concurrent uploads of the same name.
  if (options.overwrite !== false && source.size !== null && source.size <= SMALL_FILE_BYTES) {
    return putInOneRequest(context, upload, await readWhole(source))
  }
  const expectedHash = source.contentHash ?? (source.isRepeatable ? await hashOf(source, options.signal) : null)
  const hashed = { ...upload, expectedHash }
  try {
    return await putInParts(context, hashed, source)
  } catch (error) {
    // An earlier attempt may have been stored without an answer. The same bytes by another client are equally good.
    const same = error instanceof NameTaken ? await findSame(context, hashed) : null
    if (!same) throw error
    return same
  }
}

async function hashOf(source: Source, signal: AbortSignal | undefined): Promise<string> {
  const hash = sha256Stream()
  for await (const chunk of source.open()) {
    signal?.throwIfAborted()
    hash.update(chunk)
  }
  return withPrefix(hash.hex())
}
