// The bytes of a file as a request asks for them: whole, in part, or only if they have changed.

import { Bytes } from '@svc/http-service/answer'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { ByteRange } from '@svc/storage/provider'
import type { Context } from '../context.ts'
import type { FileRow, Locker } from '../db/schema.ts'
import { contentNotFound, storageError } from '../files/errors.ts'
import { statObject } from '../files/objects.ts'
import { type CurrentBytes, currentBytes } from '../files/put-file.ts'
import type { FilesContext } from '../files/room.ts'
import { readRange } from './byte-range.ts'
import { isNotModified, isRangeStillGood } from './conditional.ts'
import { fileHeaders } from './file-headers.ts'

export interface FoundBytes extends CurrentBytes {
  locker: Locker
  size: number
}

/** Bytes of another length than was recorded are as good as lost: they are not the file's. */
export async function findBytes(context: FilesContext, locker: Locker, entry: FileRow): Promise<FoundBytes> {
  const current = await currentBytes(context, locker, entry)
  const found = current && (await statObject(context, locker, current.key))
  if (!found || (current.file.size_bytes ?? found.size) !== found.size) {
    throw contentNotFound(locker.locker_id, entry.filename)
  }
  return { ...current, locker, size: found.size }
}

export async function answerBytes(
  context: Context,
  bytes: FoundBytes,
  { method, headers }: WireRequest,
  policy: Readonly<Record<string, string>>,
): Promise<Bytes> {
  const { file, size } = bytes
  const { filename, content_type: contentType, content_hash } = file
  const etag = content_hash && `"${content_hash}"`
  const whole = { ...policy, ...fileHeaders({ filename, contentType, etag, size }) }
  const { 'content-length': _, ...about } = whole
  if (isNotModified(headers['if-none-match'], etag)) return new Bytes(304, about, null)
  if (method === 'HEAD') return new Bytes(200, whole, null)
  // One text: Node joins what is sent twice.
  const ifRange = headers['if-range'] as string | undefined
  const range = isRangeStillGood(ifRange, etag) ? readRange(headers.range, size) : 'whole'
  if (range === 'unsatisfiable') throw notSatisfiable(size)
  // Named by its ends: no more may follow the length that the headers tell, nor less.
  const all = size === 0 ? undefined : { start: 0, end: size - 1 }
  if (range === 'whole') return new Bytes(200, whole, await openBytes(context, bytes, all))
  const { start, end } = range
  const part = { 'content-length': String(end - start + 1), 'content-range': `bytes ${start}-${end}/${size}` }
  return new Bytes(206, { ...about, ...part }, await openBytes(context, bytes, range))
}

async function openBytes({ providers }: Context, { locker, file, key }: FoundBytes, range?: ByteRange) {
  try {
    const stream = await providers.named(locker.provider).read(key, range)
    if (stream) return stream
  } catch (error) {
    throw storageError(error)
  }
  throw contentNotFound(locker.locker_id, file.filename)
}

function notSatisfiable(size: number): ServiceError {
  return new ServiceError('RANGE_NOT_SATISFIABLE', `the file has ${size} bytes`, {
    hint: 'ask for a range that begins within the file',
    headers: { 'content-range': `bytes */${size}` },
  })
}
