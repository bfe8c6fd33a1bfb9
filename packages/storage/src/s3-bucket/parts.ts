// Parts as parts of an S3 upload. A repeated write replaces a part, and its ETag identifies the write. Parts have any
// length from 5 MiB on and need no slots; in return, none can be read before the object is complete.

import type { Readable } from 'node:stream'
import { batchSource } from '../batches.ts'
import { MAX_PARTS, startsOf, totalSize } from '../part-slots.ts'
import { type CompletedParts, type ObjectParts, ProviderError, type WrittenPart } from '../provider.ts'
import { findObject, type S3Bucket } from './bucket.ts'
import { hasCode, hasStatus } from './errors.ts'
import { createPortions } from './portions.ts'
import { abortUpload, beginUpload, completeUpload, findUploads } from './write.ts'

/** The limit of S3, for all parts but the last. */
const MIN_PART_BYTES = 5 * 1024 * 1024

export function s3BucketParts(bucket: S3Bucket): ObjectParts {
  return {
    accepts: (partBytes) => partBytes >= MIN_PART_BYTES,
    begin: (id, { contentType }) => beginUpload(bucket, bucket.keyOf(id), { 'content-type': contentType }),
    async write({ id, ref }, { index, size, isLast }, bytes) {
      if (index >= MAX_PARTS || (size < MIN_PART_BYTES && !isLast)) return null
      return writePart(bucket, bucket.keyOf(id), ref, { index, size }, bytes)
    },
    complete: ({ id, ref }, parts) => complete(bucket, bucket.keyOf(id), ref, parts),
  }
}

async function writePart(
  bucket: S3Bucket,
  key: string,
  uploadId: string,
  { index, size }: { index: number; size: number },
  source: Readable,
): Promise<string | null> {
  const batches = batchSource(source)
  const body = createPortions(batches).stream(size, { isLast: true })
  try {
    const query = { uploadId, partNumber: `${index + 1}` }
    const { headers } = await bucket.ask({ method: 'PUT', key, query, body })
    return `${headers.etag}`
  } catch (error) {
    if (hasCode(error, 'NoSuchUpload') && !body.hasBegun()) return null
    throw error
  } finally {
    batches.release()
  }
}

const LOST = ['InvalidPart', 'NoSuchUpload']

/** Ceph answers 500 when an upload was removed: then the store's list of uploads decides. */
async function isLost(bucket: S3Bucket, key: string, uploadId: string, failure: unknown): Promise<boolean> {
  if (LOST.some((code) => hasCode(failure, code))) return true
  return hasStatus(failure, 500) && !(await findUploads(bucket, key)).includes(uploadId)
}

async function complete(
  bucket: S3Bucket,
  key: string,
  uploadId: string,
  parts: readonly WrittenPart[],
): Promise<CompletedParts | null> {
  const failure = await completeUpload(bucket, key, uploadId, parts).then(
    () => null,
    (error: unknown) => error,
  )
  // It may exist despite a failure, or from an earlier call.
  const found = await findObject(bucket, key)
  if (!found && failure) {
    if (await isLost(bucket, key, uploadId, failure)) return null
    throw failure
  }
  const size = totalSize(parts)
  if (found?.size !== size)
    throw new ProviderError('unavailable', `${bucket.title} created a wrong object from the parts`)
  // Another gateway may have begun at the same time.
  for (const other of await findUploads(bucket, key)) await abortUpload(bucket, key, other)
  return { size, ref: null, isExact: true, starts: startsOf(parts) }
}
