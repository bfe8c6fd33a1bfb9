// Serves a file by short URL, by public link or by share: all of it, one range, or nothing if it has not changed.

import { hash } from 'node:crypto'
import type { Bytes } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { ServiceError } from '@svc/service/service-error'
import { lockerNotOpen, receiptNotFound } from '../../auth/errors.ts'
import { requireServed } from '../../auth/restrictions.ts'
import { findReceiptAndLocker } from '../../auth/store.ts'
import type { Context } from '../../context.ts'
import type { Db, FileRow, Locker } from '../../db/schema.ts'
import type { CurrentBytes } from '../../files/direct-uploads.ts'
import { fileNotFound, uploadError } from '../../files/errors.ts'
import { findStored } from '../../files/parts/store.ts'
import { findViewed, isViewId } from '../../files/parts/view.ts'
import { findFile, findLockerOf } from '../../files/store.ts'
import { isLinkHandle, publicLinkOf } from '../../lockers/public-link.ts'
import { answerBytes, type FoundBytes, findBytes } from './answer-bytes.ts'
import { refuseAsCode } from './fetch-destination.ts'
import { fileHeaders, PUBLIC_LINK_HEADERS, TOKEN_HEADERS } from './file-headers.ts'
import type { OpenedFile } from './open-token.ts'
import { needsOurTags, readRange, type Validators } from './range-requests.ts'
import { redirectDownload } from './redirects.ts'

export async function readByToken(context: Context, opened: OpenedFile, wire: WireRequest): Promise<Bytes> {
  refuseAsCode(wire.headers, opened.file.content_type)
  const bytes = await findBytes(context, opened.locker, opened.file)
  // A provider signs addresses for GET only, ignores our tags, and decompresses what is stored compressed.
  const isProxied = wire.method === 'HEAD' || needsOurTags(wire.headers) || bytes.isEncoded === true
  const redirect = isProxied ? null : await redirectDownload(context, opened, bytes)
  if (!redirect) return answerBytes(context, bytes, wire, aboutFile(bytes, TOKEN_HEADERS))
  context.egress.count(opened.locker.locker_id, requestedBytes(wire, bytes))
  return redirect
}

/** Never redirects: a shared link must not reveal a provider's address. */
export async function readPublicly(
  context: Context & Context,
  { receipt_id: id, filename }: { receipt_id: string; filename: string },
  wire: WireRequest,
): Promise<Bytes> {
  const { db } = context.database
  if (isViewId(id)) return readUploaded(context, id, filename, wire)
  const locker = await findLinkedLocker(context, id)
  requireServed(locker)
  const file = await findFile(db, locker.locker_id, filename)
  if (!file) throw fileNotFound(filename)
  return answerFile(context, locker, file, wire, PUBLIC_LINK_HEADERS)
}

/** Answers the bytes themselves, never a redirect. `policy`: headers about caches and referrers. */
export async function answerFile(
  context: Context,
  locker: Locker,
  file: FileRow,
  wire: WireRequest,
  policy: Readonly<Record<string, string>>,
): Promise<Bytes> {
  refuseAsCode(wire.headers, file.content_type)
  const bytes = await findBytes(context, locker, file)
  return answerBytes(context, bytes, wire, aboutFile(bytes, policy))
}

/** Serves a file by the view of an upload session, while the file still has the bytes that the session stored. */
async function readUploaded(
  context: Context & Context,
  viewId: string,
  filename: string,
  wire: WireRequest,
): Promise<Bytes> {
  const { db } = context.database
  const session = await findViewed(context, viewId)
  if (!session) throw viewEnded()
  const stored = await findStored(db, session.session_id, filename)
  const locker = stored && (await findLockerOf(db, session))
  if (!locker) throw notViewed(filename)
  requireServed(locker)
  const file = await findFile(db, locker.locker_id, filename)
  if (file?.content_hash !== stored.content_hash) throw notViewed(filename)
  const bytes = await findBytes(context, locker, file)
  // `findBytes` may have just adopted a direct upload.
  if (bytes.file.content_hash !== stored.content_hash) throw notViewed(filename)
  refuseAsCode(wire.headers, file.content_type)
  return answerBytes(context, bytes, wire, aboutFile(bytes, TOKEN_HEADERS))
}

/** The response for an unknown receipt: an expired view must look like one that never existed. */
function viewEnded(): ServiceError {
  return uploadError('receipt_not_found', 'no receipt has this id', {
    layer: 'viewer',
    recovery_hint: 'use the exact viewer_url; it expires with its upload session, so ask the owner for another link',
    next_best_method: 'none',
  })
}

function notViewed(filename: string): ServiceError {
  return uploadError('FILE_NOT_FOUND', 'this upload has no file with this name', {
    layer: 'viewer',
    recovery_hint: 'read the session for its file names; replaced, renamed and deleted files are not shown',
    next_best_method: 'GET /v1/upload-sessions/{session_id}',
    filename,
  })
}

/** The bytes that a provider will send, unless the client disconnects. */
function requestedBytes({ headers }: WireRequest, { size }: FoundBytes): number {
  const range = readRange(headers.range, size)
  if (range === 'unsatisfiable') return 0
  return range === 'whole' ? size : range.end - range.start + 1
}

async function findLinkedLocker({ database: { db }, continuity }: Context, id: string): Promise<Locker> {
  const locker = isLinkHandle(id) ? await findLockerOf(db, { link_handle: id }) : await findLockerOfReceipt(db, id)
  if (locker && publicLinkOf(locker).id === id) return locker
  throw receiptNotFound(continuity)
}

async function findLockerOfReceipt(db: Db, id: string): Promise<Locker | null> {
  const found = await findReceiptAndLocker(db, id)
  if (found && !found.locker) throw lockerNotOpen(found.receipt)
  return found?.locker ?? null
}

function aboutFile(bytes: FoundBytes, policy: Readonly<Record<string, string>>) {
  const { filename, content_type: contentType } = bytes.file
  const { etag, validators } = validatorsOf(bytes)
  const { modifiedAt } = validators
  return {
    headers: { ...policy, ...fileHeaders({ filename, contentType, etag, size: bytes.size, modifiedAt }) },
    validators,
  }
}

/**
 * The hash of a file is its tag once it is recorded. Until then it is the hash of the object's id, which is
 * unique to these bytes. That tag remains valid, so that a download which began earlier can be resumed.
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
