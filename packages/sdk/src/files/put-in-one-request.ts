import { confirmFile } from '@svc/api/confirm-files'
import { createFile } from '@svc/api/files'
import { withPrefix } from '@svc/protocol/bytes'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { BytesDiffer, isGatewayError } from '../errors.ts'
import { sha256Hex } from '../sha256.ts'
import { isUrlInvalid, writeBytes } from './short-urls.ts'
import { requireSame, type StoredFile, type Upload } from './upload.ts'

/** Creates, uploads and confirms a file that fits in one request. */
export async function putInOneRequest(
  context: Context,
  upload: Omit<Upload, 'expectedHash'>,
  bytes: Uint8Array,
): Promise<StoredFile> {
  const { locker, filename, options } = upload
  const { receipt_id } = locker
  const expected = withPrefix(await sha256Hex(bytes))
  await write(context, { ...upload, expectedHash: expected }, bytes)
  const { body } = await call(context, confirmFile, {
    body: { receipt_id, filename },
    signal: options.signal,
  }).catch(differing(filename, expected))
  requireSame(body, { filename, size_bytes: bytes.length, content_hash: expected })
  options.onProgress?.(bytes.length, bytes.length)
  return { filename, size_bytes: bytes.length, content_hash: expected }
}

/** Renews an expired upload URL once. */
async function write(context: Context, upload: Upload, bytes: Uint8Array): Promise<void> {
  try {
    await writeOnce(context, upload, bytes)
  } catch (error) {
    if (!isUrlInvalid(error)) throw error
    await writeOnce(context, upload, bytes)
  }
}

async function writeOnce(context: Context, upload: Upload, bytes: Uint8Array): Promise<void> {
  const { locker, filename, contentType, expectedHash, options } = upload
  const { signal } = options
  const { body: urls } = await call(context, createFile, {
    params: { locker_id: locker.locker_id },
    body: { filename, content_type: contentType, ...(expectedHash && { expected_hash: expectedHash }) },
    signal,
  })
  await writeBytes(context, urls, bytes, signal)
}

/** Turns the gateway's HASH_MISMATCH into a BytesDiffer. */
function differing(filename: string, expected: string) {
  return (error: unknown): never => {
    if (!isGatewayError(error, 'HASH_MISMATCH')) throw error
    throw new BytesDiffer(filename, expected, String(error.details.actual))
  }
}
