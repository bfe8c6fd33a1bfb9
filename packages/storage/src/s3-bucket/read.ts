import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { answeredBytes, checked, isComplete, isSameRange, rangeHeader } from '../http/byte-ranges.ts'
import { resumable } from '../http/resumable.ts'
import { rangePastEnd, requireRange } from '../object-rules.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import type { S3Bucket } from './bucket.ts'
import { hasCode, hasStatus } from './errors.ts'

export async function readObject(bucket: S3Bucket, key: string, range?: ByteRange): Promise<Readable | null> {
  if (range) requireRange(range)
  const answer = await open(bucket, key, range, {})
  if (!answer) return null
  const bytes = answeredBytes(answer)
  const sameObject = answer.headers.etag ? { 'if-match': answer.headers.etag } : {}
  return resumable(answer, bytes, bucket.timeouts, async (position) => {
    const next = await open(bucket, key, { start: position, end: bytes.end }, sameObject)
    if (next) return next
    throw new ProviderError('unavailable', `an object disappeared at ${bucket.title} while it was read`)
  })
}

/** The whole object, or exactly the range; null when there is no such object. */
async function open(
  bucket: S3Bucket,
  key: string,
  range: ByteRange | undefined,
  headers: Record<string, string>,
): Promise<IncomingMessage | null> {
  try {
    const answer = await bucket.open({ method: 'GET', key, headers: { ...headers, ...(range && rangeHeader(range)) } })
    return checked(answer, () => requireBytes(bucket, answer, range))
  } catch (error) {
    if (hasCode(error, 'NoSuchKey')) return null
    throw hasStatus(error, 416) ? rangePastEnd() : error
  }
}

/** The store shortens a range that goes past the end of an object. */
function requireBytes(bucket: S3Bucket, answer: IncomingMessage, range: ByteRange | undefined): IncomingMessage {
  const bytes = answeredBytes(answer)
  if (range ? isSameRange(bytes, range) : isComplete(bytes)) return answer
  if (range && bytes.start === range.start && bytes.end < range.end) throw rangePastEnd()
  throw new ProviderError('unavailable', `${bucket.title} sent bytes that were not requested`)
}
