// Writes an object, in one request or in parts, and removes it with the leftovers of interrupted writes. A write whose
// answer was lost recognizes its own object by its mark.

import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { batchSource } from '../batches.ts'
import type { StreamedBody } from '../http/body.ts'
import { idTaken, requireSizeAtMost, wrongSize } from '../object-rules.ts'
import { MAX_PARTS } from '../part-slots.ts'
import { ProviderError } from '../provider.ts'
import { findObject, MARK_HEADER, type S3Bucket } from './bucket.ts'
import { hasCode, hasStatus } from './errors.ts'
import { createPortions, type Portions } from './portions.ts'
import { escaped, textIn, textsIn } from './xml.ts'

const MIB = 1024 * 1024
/** Objects up to this size are held in memory: they can be sent again, and their hash can be signed. */
const SMALL_BYTES = MIB
/** Storj charges for each part as for one of 64 MiB, and does not store more than that in one. */
const PART_BYTES = 64 * MIB
/** The store needs the length of a part: when a source does not declare its size, parts are held in memory. */
const BUFFERED_PART_BYTES = 8 * MIB
export const MAX_BYTES = MAX_PARTS * PART_BYTES
/** The pages of a list of uploads: one object does not have ten thousand of them. */
const MAX_PAGES = 10

/** A write with this condition never replaces an object. */
export const ONLY_IF_NEW = { 'if-none-match': '*' }

type PartBody = Buffer | StreamedBody

interface Write {
  key: string
  mark: string
  /** Stored with the object. */
  headers: Record<string, string>
}

export async function writeObject(
  bucket: S3Bucket,
  key: string,
  source: Readable,
  { contentType, size }: { contentType: string; size: number | null },
): Promise<number> {
  const batches = batchSource(source)
  try {
    requireSizeAtMost(MAX_BYTES, size)
    // Some stores ignore the precondition of a write; nothing has been sent yet.
    if (await findObject(bucket, key)) throw idTaken()
    const mark = randomUUID()
    const write = { key, mark, headers: { 'content-type': contentType, [MARK_HEADER]: mark } }
    return await putOnce(bucket, write, () => put(bucket, write, createPortions(batches), size))
  } finally {
    batches.release()
  }
}

/** A failure does not count when the object exists despite it. */
async function putOnce(bucket: S3Bucket, { key, mark }: Write, put: () => Promise<number>): Promise<number> {
  try {
    return await put()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const found = await findObject(bucket, key).catch(() => null)
    if (found?.mark === mark) return found.size
    throw hasStatus(error, 412) || hasCode(error, 'ConditionalRequestConflict') ? idTaken() : error
  }
}

async function put(bucket: S3Bucket, write: Write, portions: Portions, size: number | null): Promise<number> {
  if (size === null) return putUndeclared(bucket, write, portions)
  if (size <= SMALL_BYTES) return putInOneRequest(bucket, write, await readWhole(portions, size))
  if (size <= PART_BYTES) return putInOneRequest(bucket, write, portions.stream(size, { isLast: true }))
  return putInParts(bucket, write, declaredParts(portions, size))
}

async function putInOneRequest(bucket: S3Bucket, { key, headers }: Write, body: PartBody): Promise<number> {
  await bucket.ask({ method: 'PUT', key, headers: { ...headers, ...ONLY_IF_NEW }, body })
  return body.length
}

async function putUndeclared(bucket: S3Bucket, write: Write, portions: Portions): Promise<number> {
  const buffer = Buffer.allocUnsafeSlow(BUFFERED_PART_BYTES)
  const length = await portions.fill(buffer)
  if (await portions.isAtEnd()) return putInOneRequest(bucket, write, buffer.subarray(0, length))
  return putInParts(bucket, write, bufferedParts(portions, buffer, length))
}

async function readWhole(portions: Portions, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(size)
  if ((await portions.fill(buffer)) < size || !(await portions.isAtEnd())) throw wrongSize()
  return buffer
}

function* declaredParts(portions: Portions, size: number): Generator<PartBody> {
  for (let left = size; left > 0; left -= PART_BYTES) {
    yield portions.stream(Math.min(left, PART_BYTES), { isLast: left <= PART_BYTES })
  }
}

/** All parts share one buffer: each is sent before the next is read. */
async function* bufferedParts(portions: Portions, buffer: Buffer, firstLength: number): AsyncGenerator<PartBody> {
  for (let length = firstLength; length > 0; length = await portions.fill(buffer)) yield buffer.subarray(0, length)
}

/** Leaves no parts when it fails. */
async function putInParts(
  bucket: S3Bucket,
  { key, headers }: Write,
  parts: AsyncIterable<PartBody> | Iterable<PartBody>,
): Promise<number> {
  const uploadId = await beginUpload(bucket, key, headers)
  const etags: string[] = []
  let size = 0
  try {
    for await (const body of parts) {
      if (etags.length === MAX_PARTS) throw new RangeError(`the source is larger than ${bucket.title} accepts`)
      const query = { uploadId, partNumber: `${etags.length + 1}` }
      const answer = await bucket.ask({ method: 'PUT', key, query, body })
      etags.push(`${answer.headers.etag}`)
      size += body.length
    }
    const sent = etags.map((ref, index) => ({ index, ref }))
    await completeUpload(bucket, key, uploadId, sent)
    return size
  } catch (error) {
    // The first failure matters more than one of this cleanup.
    await abortUpload(bucket, key, uploadId).catch(() => {})
    throw error
  }
}

export async function beginUpload(bucket: S3Bucket, key: string, headers: Record<string, string>): Promise<string> {
  const { text } = await bucket.ask({ method: 'POST', key, query: { uploads: '' }, headers })
  const uploadId = textIn(text, 'UploadId')
  if (!uploadId) throw new ProviderError('unavailable', `${bucket.title} began an upload without an id`)
  return uploadId
}

export async function completeUpload(
  bucket: S3Bucket,
  key: string,
  uploadId: string,
  parts: readonly { index: number; ref: string }[],
): Promise<void> {
  const list = parts.map(
    ({ index, ref }) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped(ref)}</ETag></Part>`,
  )
  const body = Buffer.from(`<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`)
  await bucket.ask({ method: 'POST', key, query: { uploadId }, headers: ONLY_IF_NEW, body })
}

export async function abortUpload(bucket: S3Bucket, key: string, uploadId: string): Promise<void> {
  await bucket.ask({ method: 'DELETE', key, query: { uploadId } }).catch((error) => {
    if (!hasCode(error, 'NoSuchUpload')) throw error
  })
}

/** Uploads are removed first: a running one can then not restore the object. */
export async function removeObject(bucket: S3Bucket, key: string): Promise<void> {
  for (const uploadId of await findUploads(bucket, key)) await abortUpload(bucket, key, uploadId)
  await bucket.ask({ method: 'DELETE', key }).catch((error) => {
    if (!hasCode(error, 'NoSuchKey')) throw error
  })
}

/** Uploads in parts that were neither completed nor aborted: their parts are paid for. */
export async function findUploads(bucket: S3Bucket, key: string): Promise<string[]> {
  const found: string[] = []
  let from: Record<string, string> = {}
  try {
    for (let page = 0; page < MAX_PAGES; page++) {
      const { text } = await bucket.ask({ method: 'GET', query: { uploads: '', prefix: key, ...from } })
      const keys = textsIn(text, 'Key')
      found.push(...textsIn(text, 'UploadId').filter((_, i) => keys[i] === key))
      if (textIn(text, 'IsTruncated') !== 'true') break
      const [lastKey, lastId] = [textIn(text, 'NextKeyMarker'), textIn(text, 'NextUploadIdMarker')]
      from = { 'key-marker': lastKey ?? '', 'upload-id-marker': lastId ?? '' }
    }
  } catch (error) {
    if (!hasStatus(error, 501)) throw error
  }
  return found
}
