// Reading a file by a short URL or by the public link: whole, a range of it, or only if it has changed.

import { hash } from 'node:crypto'
import { Bytes } from '@svc/http-service/answer'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { ByteRange } from '@svc/storage/provider'
import { lockerNotOpen, receiptNotFound } from '../auth/errors.ts'
import { requireServed } from '../auth/restrictions.ts'
import { findReceiptAndLocker } from '../auth/store.ts'
import type { Context } from '../context.ts'
import type { Db, FileRow, Locker } from '../db/schema.ts'
import { type CurrentBytes, currentBytes } from '../files/direct-uploads.ts'
import { contentNotFound, fileNotFound, storageError } from '../files/errors.ts'
import { statObject } from '../files/objects.ts'
import type { FilesContext } from '../files/room.ts'
import { findFile, findLockerOf } from '../files/store.ts'
import { isLinkHandle, publicLinkOf } from '../lockers/public-link.ts'
import type { Egress } from './egress.ts'
import { fileHeaders, PUBLIC_LINK_HEADERS, TOKEN_HEADERS } from './file-headers.ts'
import type { OpenedFile } from './open-token.ts'
import { checkConditions, isRangeStillGood, needsOurTags, readRange, type Validators } from './range-requests.ts'
import { redirectDownload } from './redirects.ts'

interface ReadingContext extends FilesContext {
  egress: Egress
}

interface FoundBytes extends CurrentBytes {
  locker: Locker
  size: number
}

export async function readByToken(context: ReadingContext, opened: OpenedFile, wire: WireRequest): Promise<Bytes> {
  const bytes = await findBytes(context, opened.locker, opened.file)
  // A provider signs its addresses for GET only, and knows nothing of our tags.
  const isProxied = wire.method === 'HEAD' || needsOurTags(wire.headers)
  const redirect = isProxied ? null : await redirectDownload(context, opened, bytes)
  if (!redirect) return counted(context, bytes, await answerBytes(context, bytes, wire, TOKEN_HEADERS))
  context.egress.count(opened.locker.locker_id, requestedBytes(wire, bytes))
  return redirect
}

/** Never redirects: a shared link must not reveal a provider's address. */
export async function readPublicly(
  context: ReadingContext,
  { receipt_id: id, filename }: { receipt_id: string; filename: string },
  wire: WireRequest,
): Promise<Bytes> {
  const { db } = context.database
  const locker = await findLinkedLocker(db, id)
  requireServed(locker)
  const file = await findFile(db, locker.locker_id, filename)
  if (!file) throw fileNotFound(filename)
  const bytes = await findBytes(context, locker, file)
  return counted(context, bytes, await answerBytes(context, bytes, wire, PUBLIC_LINK_HEADERS))
}

/** Counts the bytes of an answer for its locker. */
function counted({ egress }: ReadingContext, { locker }: FoundBytes, answer: Bytes): Bytes {
  if (!answer.stream) return answer
  egress.count(locker.locker_id, Number(answer.headers['content-length']))
  answer.onBrokenOff = (unsent) => egress.count(locker.locker_id, -unsent)
  return answer
}

/** What a provider will send, unless the client breaks off. */
function requestedBytes({ headers }: WireRequest, { size }: FoundBytes): number {
  const range = readRange(headers.range, size)
  if (range === 'unsatisfiable') return 0
  return range === 'whole' ? size : range.end - range.start + 1
}

async function findLinkedLocker(db: Db, id: string): Promise<Locker> {
  const locker = isLinkHandle(id) ? await findLockerOf(db, { link_handle: id }) : await findLockerOfReceipt(db, id)
  if (locker && publicLinkOf(locker).id === id) return locker
  throw receiptNotFound()
}

async function findLockerOfReceipt(db: Db, id: string): Promise<Locker | null> {
  const found = await findReceiptAndLocker(db, id)
  if (found && !found.locker) throw lockerNotOpen(found.receipt)
  return found?.locker ?? null
}

/** An object of another length than the recorded one counts as lost. */
async function findBytes(context: FilesContext, locker: Locker, entry: FileRow): Promise<FoundBytes> {
  const current = await currentBytes(context, locker, entry)
  const found = current && (await statObject(context, locker, current.key))
  if (!found || (current.file.size_bytes ?? found.size) !== found.size) {
    throw contentNotFound(locker.locker_id, entry.filename)
  }
  return { ...current, locker, size: found.size }
}

async function answerBytes(
  context: Context,
  bytes: FoundBytes,
  { method, headers }: WireRequest,
  policy: Readonly<Record<string, string>>,
): Promise<Bytes> {
  const { file, size } = bytes
  const { filename, content_type: contentType } = file
  const { etag, validators } = validatorsOf(bytes)
  const whole = { ...policy, ...fileHeaders({ filename, contentType, etag, size, modifiedAt: validators.modifiedAt }) }
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

/**
 * The hash of a file is its tag once it is recorded. Until then it is the hash of the object's id, which no other bytes
 * have; that tag stays good, so that a download which began before can be continued.
 */
function validatorsOf({ file: { content_hash, uploaded_at }, key }: CurrentBytes): {
  etag: string
  validators: Validators
} {
  const objectTag = `"object:${hash('sha256', `etag ${key.id}`).slice(0, 32)}"`
  const modifiedAt = uploaded_at === null ? null : Math.floor(Date.parse(uploaded_at) / 1000) * 1000
  const etag = content_hash === null ? objectTag : `"${content_hash}"`
  return { etag, validators: { etags: [etag, objectTag], modifiedAt } }
}

function preconditionFailed(): ServiceError {
  return new ServiceError('PRECONDITION_FAILED', 'the file is not the one that the conditions of the request name', {
    hint: 'read it from the beginning, without If-Match and If-Unmodified-Since',
  })
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
