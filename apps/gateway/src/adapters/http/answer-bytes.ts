// Answers HTTP requests with the bytes of a file: all of them, one range, or none if they have not changed. The adapter
// supplies the headers that describe the file.

import type { IncomingHttpHeaders } from 'node:http'
import { Bytes } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import type { ByteRange, ObjectFacts } from '@svc/storage/provider'
import type { Context } from '../../context.ts'
import type { FileRow, Locker } from '../../db/schema.ts'
import { type CurrentBytes, currentBytes } from '../../files/direct-uploads.ts'
import { contentNotFound, storageError } from '../../files/errors.ts'
import { statObject } from '../../files/objects.ts'
import { checkConditions, isRangeApplicable, readRange, type Validators } from './range-requests.ts'

export interface FoundBytes extends CurrentBytes, ObjectFacts {
  locker: Locker
}

/** An object whose length differs from the recorded one counts as lost. */
export async function findBytes(context: Context, locker: Locker, entry: FileRow): Promise<FoundBytes> {
  const current = await currentBytes(context, locker, entry)
  const found = current && (await statObject(context, locker, current.key))
  if (!found || (current.file.size_bytes ?? found.size) !== found.size) {
    throw contentNotFound(locker.locker_id, entry.filename)
  }
  return { ...current, ...found, locker }
}

interface About {
  /** Describe the whole file; a range has its own length. */
  headers: Record<string, string>
  validators: Validators
}

/** Adds the sent bytes to the locker's egress. */
export async function answerBytes(
  context: Context,
  bytes: FoundBytes,
  wire: Pick<WireRequest, 'method' | 'headers'>,
  about: About,
): Promise<Bytes> {
  // A HEAD is about the whole file (RFC 9110, 14.2).
  const requested = wire.method === 'HEAD' ? { ...wire.headers, range: undefined } : wire.headers
  const { status, headers, range } = selectBytes(bytes.size, requested, about)
  if (status === 304 || wire.method === 'HEAD') return new Bytes(status, headers, null)
  const answer = new Bytes(status, headers, await openBytes(context, bytes, range))
  const { egress } = context
  const { locker_id } = bytes.locker
  egress.count(locker_id, Number(answer.headers['content-length']))
  answer.onBrokenOff = (unsent) => egress.count(locker_id, -unsent)
  return answer
}

interface Selection {
  status: 200 | 206 | 304
  headers: Record<string, string>
  /** Undefined for an empty file. */
  range?: ByteRange
}

/** Evaluates the conditions and the Range header of a request. */
export function selectBytes(
  size: number,
  headers: IncomingHttpHeaders,
  { headers: whole, validators }: About,
): Selection {
  const { 'content-length': _, ...common } = whole
  const outcome = checkConditions(headers, validators)
  if (outcome === 'failed') throw preconditionFailed()
  if (outcome === 'not-modified') return { status: 304, headers: common }
  const ifRange = headers['if-range'] as string | undefined // Node joins repeated headers into one string
  const range = isRangeApplicable(ifRange, validators) ? readRange(headers.range, size) : 'whole'
  if (range === 'unsatisfiable') throw notSatisfiable(size)
  // An explicit range, so that an object that grows meanwhile does not exceed its content-length.
  if (range === 'whole') return { status: 200, headers: whole, ...(size > 0 && { range: { start: 0, end: size - 1 } }) }
  const { start, end } = range
  const part = { 'content-length': String(end - start + 1), 'content-range': `bytes ${start}-${end}/${size}` }
  return { status: 206, headers: { ...common, ...part }, range }
}

function preconditionFailed(): ServiceError {
  return new ServiceError('PRECONDITION_FAILED', 'the file is not the one that the conditions of the request name', {
    hint: 'read it from the beginning, without If-Match and If-Unmodified-Since',
  })
}

export async function openBytes({ providers }: Context, { locker, file, key }: FoundBytes, range?: ByteRange) {
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
    hint: 'request a range that begins within the file',
    headers: { 'content-range': `bytes */${size}` },
  })
}
