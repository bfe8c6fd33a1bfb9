// Taking a part, whether a client sends it or a stored file has it.

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

/** As S3 has it. */
const MAX_PART_BYTES = 5 * 1024 ** 3
/** Room for the next piece. */
const HIGH_WATER_MARK = 1_048_576

interface NewPart {
  number: number
  size: number
  /** Fail at their end when they are not what the client says. */
  bytes: AsyncIterable<Buffer>
  /** The checksum that the upload announced, if the client sends it; null otherwise. */
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
  if (size > maxBytes) throw s3Error('EntityTooLarge', `a part may have ${maxBytes} bytes`)
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

/** What sessions answer with words of their own. */
function asS3(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error
  if (error.code === 'SESSION_CLOSED') return noSuchUpload()
  return error.code === 'UPLOAD_TOKEN_INVALID' ? accessEnded() : error
}
