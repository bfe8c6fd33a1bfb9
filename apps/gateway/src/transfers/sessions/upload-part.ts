import type { Query } from '@svc/api/endpoint'
import type { UploadedPart, uploadPart as uploadPartEndpoint } from '@svc/api/upload-sessions'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { bare } from '@svc/protocol/bytes'
import { type Context, unixNow } from '../../context.ts'
import { hashAlong } from '../../files/confirm/hash-object.ts'
import { storageError } from '../../files/errors.ts'
import { type NewObject, removeObject, writeObject } from '../../files/objects.ts'
import { requireRoomForFiles } from '../../files/require-room.ts'
import { findLockerOf } from '../../files/store.ts'
import type { TransfersContext } from '../room.ts'
import {
  fileNotInSession,
  fileSealed,
  fileStored,
  fileTooLarge,
  partDiffers,
  partTooLarge,
  sessionClosed,
} from './errors.ts'
import { fileKey, uploadOf } from './open-parts.ts'
import { type PartBody, readPartBody } from './part-body.ts'
import { findPart } from './part-store.ts'
import { acceptsParts, isSealed, maxFileBytes, maxPartBytes } from './record-part.ts'
import { findSessionFile, type Session, type SessionFile } from './store.ts'

interface Upload {
  session: Session
  fileId: string
  query: Query<typeof uploadPartEndpoint>
  wire: WireRequest
}

/** A part on its way. */
interface Arriving {
  session: Session
  file: SessionFile
  body: PartBody
  /** For all parts of the file together. */
  maxBytes: number
}

/** Complete and durable, but not recorded. */
interface WrittenPart {
  index: number
  object: NewObject
  /** The provider's name for it in the file's object; null when the object is its own. */
  ref: string | null
  /** With its prefix. */
  hash: string
}

/** A part counts once it is complete, durable and has the declared hash. A broken connection leaves nothing. */
export async function uploadPart(context: TransfersContext, upload: Upload): Promise<UploadedPart> {
  const { session, wire, query } = upload
  const file = await findOpenFile(context, upload)
  if (file.size_bytes === null && context.config.lockers.enforcesTerms) await requireRoomForMore(context, session, file)
  const body = readPartBody(wire, query, maxPartBytes(context, session.provider))
  try {
    const maxBytes = maxFileBytes(context, session.provider, file)
    if (body.size !== null && body.size > maxBytes) throw fileTooLarge(maxBytes)
    return await storePart(context, { session, file, body, maxBytes })
  } finally {
    body.release()
  }
}

/** A file without a declared size may bring one part too many; what it has is counted when it is stored. */
async function requireRoomForMore(context: Context, { locker_id }: Session, file: SessionFile): Promise<void> {
  const locker = await findLockerOf(context.database.db, { locker_id })
  if (locker) await requireRoomForFiles(context, locker, [{ filename: file.filename, bytes: file.received_bytes }])
}

/** Refuses before the body is read. */
async function findOpenFile(context: Context, { session, fileId }: Upload): Promise<SessionFile> {
  if (!acceptsParts(session, unixNow(context))) throw sessionClosed()
  const file = await findSessionFile(context.database.db, session.session_id, fileId)
  if (!file) throw fileNotInSession()
  if (file.state === 'stored') throw fileStored()
  if (isSealed(file)) throw fileSealed()
  return file
}

/** From this size on a part is hashed in a thread, and written where it stays: so is what follows, as the last part. */
const LARGE_BYTES = 256 * 1024

function storePart(context: TransfersContext, arriving: Arriving): Promise<UploadedPart> {
  const { file, body } = arriving
  const { size, index } = body
  const isLarge = size !== null && (size >= LARGE_BYTES || (size > 0 && uploadOf(file) !== null))
  return isLarge && index !== null ? storeLarge(context, arriving, { size, index }) : storeSmall(context, arriving)
}

async function storeSmall(context: TransfersContext, arriving: Arriving): Promise<UploadedPart> {
  const { body } = arriving
  const hash = hashAlong(body.bytes)
  const object = await writeAside(context, arriving, body)
  return recordPart(context, arriving, { index: body.declared().index, object, ref: null, hash: hash() })
}

async function storeLarge(
  context: TransfersContext,
  arriving: Arriving,
  { size, index }: { size: number; index: number },
): Promise<UploadedPart> {
  const { file, body } = arriving
  const hashed = context.partHashes.along(fileKey(file), index, body.bytes, (hash) => {
    const difference = differenceOf(body, hash)
    if (difference) throw difference
  })
  const { bytes } = hashed
  try {
    const written =
      (await writeInPlace(context, arriving, { index, size, bytes })) ??
      ({ object: await writeAside(context, arriving, { size, bytes }), ref: null } as const)
    const recorded = await recordPart(context, arriving, { ...written, index, hash: hashed.hash() })
    hashed.stored()
    return recorded
  } finally {
    hashed.close()
  }
}

/** Null, with nothing read, when the part has to be an object of its own. */
async function writeInPlace(
  context: TransfersContext,
  { session, file, maxBytes }: Arriving,
  { index, size, bytes }: Pick<PartBody, 'bytes'> & { size: number; index: number },
): Promise<Pick<WrittenPart, 'object' | 'ref'> | null> {
  // What is refused cannot be taken out of the object again, so that it must not come in (T-11).
  if (Math.max(file.received_bytes, index * size) + size > maxBytes) return null
  // A provider may replace the part before, although it counts until this one is recorded; or it keeps all of them (T-11).
  if (await findPart(context.database.db, { ...file, part_index: index })) return null
  const upload = await context.openParts(session, file, { index, size })
  if (!upload) return null
  const { parts } = context.providers.named(session.provider)
  try {
    const ref = await parts.write(upload, { index, size, isLast: false, maxBytes }, bytes)
    return ref === null ? null : { object: { id: upload.id, ref: null, size }, ref }
  } catch (error) {
    throw storageError(error)
  }
}

/** With the file's type: if this is the only part, its object becomes the file's. */
async function writeAside(
  context: TransfersContext,
  { session: { provider }, file }: Arriving,
  { bytes, size }: Pick<PartBody, 'bytes' | 'size'>,
): Promise<NewObject> {
  try {
    return await writeObject(context, provider, bytes, { contentType: file.content_type, size })
  } catch (error) {
    // A body without a declared length: here the part is too large, not the file.
    const isTooLarge = error instanceof ServiceError && error.code === 'UPLOAD_TOO_LARGE'
    throw isTooLarge ? partTooLarge(maxPartBytes(context, provider)) : error
  }
}

async function recordPart(
  context: TransfersContext,
  { session: { session_id, provider }, file: { file_id }, body, maxBytes }: Arriving,
  { index, object, ref, hash }: WrittenPart,
): Promise<UploadedPart> {
  const sha256 = bare(hash)
  const refusal = differenceOf(body, hash)
  const recorded = refusal
    ? { refusal }
    : await context.recordPart({ sessionId: session_id, fileId: file_id, index, object, ref, sha256, maxBytes })
  if ('refusal' in recorded) {
    if (ref === null) await removeObject(context, provider, object.id, object.ref)
    throw recorded.refusal
  }
  return {
    session_id,
    file_id,
    index,
    received_bytes: object.size,
    total_received_bytes: recorded.totalBytes,
    sha256,
    status: 'partial',
  }
}

/** From what the client declares. */
function differenceOf(body: PartBody, actual: string): ServiceError | null {
  const expected = body.declared().hashes.find((hash) => hash !== actual)
  return expected === undefined ? null : partDiffers(expected, actual)
}
