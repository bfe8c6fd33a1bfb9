// Stores an object from the body of a request. Its hash is computed as it arrives, so the file is confirmed
// immediately.

import { withPrefix } from '@svc/protocol/bytes'
import { s3Error } from '@svc/s3/errors'
import type { Payload } from '@svc/s3/payload'
import { ownedChunks } from '../../../files/hash-stream.ts'
import { maxObjectBytes } from '../../../files/objects.ts'
import { type Source, storeBytes } from '../../../files/store-bytes.ts'
import { emptyAnswer } from '../answers.ts'
import { etagOf, withMd5 } from '../etags.ts'
import type { S3Operation } from '../operation.ts'
import { openBody, type S3Request } from '../request.ts'
import { requireKey } from './find-object.ts'
import { readObjectHeaders, refuseUnsupported } from './object-headers.ts'
import { readWriteCondition } from './write-condition.ts'

export const putObject: S3Operation = async (context, request, caller) => {
  const { key, signed, query } = request
  if (query.has('partNumber')) throw s3Error('InvalidArgument', 'partNumber requires uploadId')
  refuseUnsupported(signed.headers)
  requireKey(context, key)
  const { contentType, metadata } = readObjectHeaders(signed.headers)
  const about = { contentType, metadata: withMd5(metadata, signed.headers['content-md5']) }
  const check = readWriteCondition(signed.headers)
  const payload = openBody(request, maxObjectBytes(context, caller.locker.provider))
  const source = { size: requireSize(payload), ...readingOf(request, payload) }
  const { grant } = caller.credential
  const conditions = { filename: key, ...about, expectedHash: null, grant, mayCreate: true, check }
  const file = await storeBytes(context, caller.locker, source, conditions)
  return emptyAnswer(200, { etag: etagOf(file), ...checksumHeaders(payload) })
}

function requireSize({ size }: Payload): number {
  if (size !== null) return size
  throw s3Error('MissingContentLength', 'the length of the object is missing', 'send Content-Length')
}

function readingOf({ signed }: S3Request, { bytes }: Payload): Pick<Source, 'open' | 'hash'> {
  const { payload } = signed.authorization
  // The payload reader computes this hash and throws on a mismatch.
  const hash = payload.kind === 'hashed' ? { known: withPrefix(payload.sha256) } : 'now'
  return { open: () => ownedChunks(bytes), hash }
}

/** The checksums that the client sent, which were verified. */
function checksumHeaders({ checksums }: Payload): Record<string, string> {
  const sent = Object.entries(checksums())
  if (sent.length === 0) return {}
  const headers = sent.map(([algorithm, value]) => [`x-amz-checksum-${algorithm}`, value])
  return { ...Object.fromEntries(headers), 'x-amz-checksum-type': 'FULL_OBJECT' }
}
