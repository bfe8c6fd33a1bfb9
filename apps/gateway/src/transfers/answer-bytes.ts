// The bytes of a file as an answer to HTTP: whole, a range of them, or only if they have changed. What the answer says
// about them is up to the door.

import { Bytes } from '@svc/http-service/answer'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { ByteRange } from '@svc/storage/provider'
import type { Context } from '../context.ts'
import type { FileRow, Locker } from '../db/schema.ts'
import { type CurrentBytes, currentBytes } from '../files/direct-uploads.ts'
import { contentNotFound, storageError } from '../files/errors.ts'
import { statObject } from '../files/objects.ts'
import type { FilesContext } from '../files/room.ts'
import type { Egress } from './egress.ts'
import { checkConditions, isRangeStillGood, readRange, type Validators } from './range-requests.ts'

export interface ReadingContext extends FilesContext {
  egress: Egress
}

export interface FoundBytes extends CurrentBytes {
  locker: Locker
  size: number
}

/** An object of another length than the recorded one counts as lost. */
export async function findBytes(context: FilesContext, locker: Locker, entry: FileRow): Promise<FoundBytes> {
  const current = await currentBytes(context, locker, entry)
  const found = current && (await statObject(context, locker, current.key))
  if (!found || (current.file.size_bytes ?? found.size) !== found.size) {
    throw contentNotFound(locker.locker_id, entry.filename)
  }
  return { ...current, locker, size: found.size }
}

interface About {
  /** Of the whole file; a range has its own length. */
  headers: Record<string, string>
  validators: Validators
}

/** Counts what is sent for the locker. */
export async function answerBytes(
  context: ReadingContext,
  bytes: FoundBytes,
  wire: Pick<WireRequest, 'method' | 'headers'>,
  about: About,
): Promise<Bytes> {
  const answer = await selectBytes(context, bytes, wire, about)
  if (!answer.stream) return answer
  const { egress } = context
  const { locker_id } = bytes.locker
  egress.count(locker_id, Number(answer.headers['content-length']))
  answer.onBrokenOff = (unsent) => egress.count(locker_id, -unsent)
  return answer
}

async function selectBytes(
  context: Context,
  bytes: FoundBytes,
  { method, headers }: Pick<WireRequest, 'method' | 'headers'>,
  { headers: whole, validators }: About,
): Promise<Bytes> {
  const { size } = bytes
  const { 'content-length': _, ...common } = whole
  const outcome = checkConditions(headers, validators)
  if (outcome === 'failed') throw preconditionFailed()
  if (outcome === 'not-modified') return new Bytes(304, common, null)
  if (method === 'HEAD') return new Bytes(200, whole, null)
  const ifRange = headers['if-range'] as string | undefined // Node joins repeated headers into one string
  const range = isRangeStillGood(ifRange, validators) ? readRange(headers.range, size) : 'whole'
  if (range === 'unsatisfiable') throw notSatisfiable(size)
  // An explicit range, so that an object that grows meanwhile does not exceed its content-length.
  const all = size === 0 ? undefined : { start: 0, end: size - 1 }
  if (range === 'whole') return new Bytes(200, whole, await openBytes(context, bytes, all))
  const { start, end } = range
  const part = { 'content-length': String(end - start + 1), 'content-range': `bytes ${start}-${end}/${size}` }
  return new Bytes(206, { ...common, ...part }, await openBytes(context, bytes, range))
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
    hint: 'ask for a range that begins within the file',
    headers: { 'content-range': `bytes */${size}` },
  })
}
