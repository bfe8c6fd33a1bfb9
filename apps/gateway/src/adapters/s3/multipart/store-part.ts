// Stores a part, whose bytes come from a client or from a stored file.

import { Readable } from 'node:stream'
import type { Checksums } from '@svc/s3/checksums'
import { s3Error } from '@svc/s3/errors'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../../context.ts'
import { maxObjectBytes } from '../../../files/objects.ts'
import { requireOpenFile, type StoredPart, storePart } from '../../../files/parts/store-part.ts'
import { accessEnded, type S3Caller } from '../caller.ts'
import { checksummed } from './checksums.ts'
import { noSuchUpload, type Upload } from './uploads.ts'

/** The limit of S3. */
const MAX_PART_BYTES = 5 * 1024 ** 3
/** Allows the next chunk to be buffered. */
const HIGH_WATER_MARK = 1_048_576

interface NewPart {
  number: number
  size: number
  /** Fails at its end when the bytes differ from what the client declared. */
  bytes: AsyncIterable<Buffer>
  /** The announced checksum if the client sends it; null otherwise. */
  sent: (() => Checksums) | null
}

export function maxPartBytes(context: Context, { session }: Upload): number {
  return Math.min(MAX_PART_BYTES, maxObjectBytes(context, session.provider))
}

export async function storeUploadPart(
  context: Context,
  upload: Upload,
  { credential }: S3Caller,
  { number, size, bytes, sent }: NewPart,
): Promise<StoredPart> {
  const { session } = upload
  const maxBytes = maxPartBytes(context, upload)
  if (size > maxBytes) throw s3Error('EntityTooLarge', `a part is limited to ${maxBytes} bytes`)
  const index = number - 1
  const { bytes: source, checksum } = checksummed(upload.file, bytes, sent)
  const readable = Readable.from(source, { objectMode: false, highWaterMark: HIGH_WATER_MARK })
  try {
    return await storePart(context, {
      session,
      file: await requireOpenFile(context, session, upload.file.file_id),
      grant: credential.grant,
      maxPartBytes: maxBytes,
      bytes: readable,
      size,
      index,
      hasSha256: false,
      declared: () => ({ index, hashes: [], checksum: checksum() }),
    })
  } catch (error) {
    throw asS3(error)
  } finally {
    readable.destroy()
  }
}

/** Replaces errors that sessions describe in their own terms. */
function asS3(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error
  if (error.code === 'SESSION_CLOSED') return noSuchUpload()
  return error.code === 'UPLOAD_TOKEN_INVALID' ? accessEnded() : error
}
