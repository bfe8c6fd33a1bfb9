// Storing an object from the body of a request. Its hash is computed as it arrives, so the file is confirmed at once.

import { withPrefix } from '@svc/protocol/bytes'
import { s3Error } from '@svc/s3/errors'
import type { Payload } from '@svc/s3/payload'
import type { FileRow } from '../../db/schema.ts'
import { findCurrent } from '../../files/direct-uploads.ts'
import { maxObjectBytes, type NewObject, removeObject, writeObject } from '../../files/objects.ts'
import { putFile } from '../../files/put-file.ts'
import { requireFewReleased } from '../../files/released.ts'
import { requireRoomForFiles } from '../../files/require-room.ts'
import { emptyAnswer } from '../answers.ts'
import type { S3Caller } from '../caller.ts'
import { asS3Error } from '../errors.ts'
import { etagOf } from '../etags.ts'
import type { S3Operation } from '../operation.ts'
import { openBody, type S3Request } from '../request.ts'
import type { S3Context } from '../room.ts'
import { requireKey } from './find-object.ts'
import { hashAlong, ownedChunks } from './hash-along.ts'
import { type ObjectHeaders, readObjectHeaders, refuseUnsupported } from './object-headers.ts'
import { readWriteCondition, type WriteCondition } from './write-condition.ts'

export const putObject: S3Operation = async (context, request, caller) => {
  const { key, signed, query } = request
  if (query.has('partNumber')) throw s3Error('InvalidArgument', 'a part belongs to an upload: send uploadId, too')
  const { provider } = caller.locker
  refuseUnsupported(signed.headers)
  requireKey(context, key)
  const about = readObjectHeaders(signed.headers)
  const check = readWriteCondition(signed.headers)
  const payload = openBody(request, maxObjectBytes(context, provider))
  const size = requireSize(payload)
  check(await findCurrent(context, caller.locker, key))
  await requireRoomForFiles(context, caller.locker, [{ filename: key, bytes: size }])
  await requireFewReleased(context, context.database.db, caller.locker)
  const stored = await storeBody(context, request, caller, payload, { size, contentType: about.contentType })
  const file = await putStored(context, caller, { filename: key, ...about, ...stored, check })
  return emptyAnswer(200, { etag: etagOf(file), ...checksumHeaders(payload) })
}

function requireSize({ size }: Payload): number {
  if (size !== null) return size
  throw s3Error('MissingContentLength', 'the length of an object is known before it is sent', 'send Content-Length')
}

interface Stored {
  object: NewObject
  contentHash: string
}

async function storeBody(
  context: S3Context,
  { signed }: S3Request,
  { locker }: S3Caller,
  { bytes }: Payload,
  about: { size: number; contentType: string },
): Promise<Stored> {
  const { payload } = signed.authorization
  if (payload.kind === 'hashed') {
    // What reads the payload computes the hash, and throws if it is another one.
    const object = await writeObject(context, locker.provider, ownedChunks(bytes), about)
    return { object, contentHash: withPrefix(payload.sha256) }
  }
  return storeBytes(context, locker.provider, bytes, about)
}

export async function storeBytes(
  context: S3Context,
  provider: string,
  bytes: AsyncIterable<Buffer>,
  about: { size: number; contentType: string },
): Promise<Stored> {
  const hashed = hashAlong(context.hashThread, bytes, about.size)
  try {
    const object = await writeObject(context, provider, hashed.bytes, about)
    return { object, contentHash: await hashed.hash() }
  } finally {
    hashed.close()
  }
}

interface PutObject extends ObjectHeaders, Stored {
  filename: string
  check: WriteCondition
}

/** Makes a stored object the file of its name. An object that is refused is removed. */
export async function putStored(
  context: S3Context,
  { locker, credential: { grant } }: S3Caller,
  put: PutObject,
): Promise<FileRow> {
  try {
    return await putFile(context, locker, { ...put, grant, expectedHash: null, mayCreate: true })
  } catch (error) {
    // After any other error the transaction may have committed: the sweep decides about the object.
    if (asS3Error(error)) await removeObject(context, locker.provider, put.object.id, put.object.ref)
    throw error
  }
}

/** The checksums that the client sent, which were found right. */
function checksumHeaders({ checksums }: Payload): Record<string, string> {
  const sent = Object.entries(checksums())
  if (sent.length === 0) return {}
  const headers = sent.map(([algorithm, value]) => [`x-amz-checksum-${algorithm}`, value])
  return { ...Object.fromEntries(headers), 'x-amz-checksum-type': 'FULL_OBJECT' }
}
