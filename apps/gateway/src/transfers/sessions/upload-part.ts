import type { Query } from '@svc/api/endpoint'
import type { UploadedPart, uploadPart as uploadPartEndpoint } from '@svc/api/upload-sessions'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { bare } from '@svc/protocol/bytes'
import { type Context, unixNow } from '../../context.ts'
import { hashAlong } from '../../files/confirm/hash-object.ts'
import { type NewObject, removeObject, writeObject } from '../../files/objects.ts'
import type { TransfersContext } from '../room.ts'
import { fileNotInSession, fileStored, fileTooLarge, partDiffers, partTooLarge, sessionClosed } from './errors.ts'
import { type PartBody, readPartBody } from './part-body.ts'
import { acceptsParts, maxFileBytes, maxPartBytes } from './record-part.ts'
import { findSessionFile, type Session, type SessionFile } from './store.ts'

interface Upload {
  session: Session
  fileId: string
  query: Query<typeof uploadPartEndpoint>
  wire: WireRequest
}

/** A part counts once it is complete, durable and has the declared hash. A broken connection leaves nothing. */
export async function uploadPart(context: TransfersContext, upload: Upload): Promise<UploadedPart> {
  const { session, wire, query } = upload
  const file = await findOpenFile(context, upload)
  const body = readPartBody(wire, query, maxPartBytes(context, session.provider))
  try {
    const maxBytes = maxFileBytes(context, session.provider, file)
    if (body.size !== null && body.size > maxBytes) throw fileTooLarge(maxBytes)
    return await storePart(context, session, file, body, maxBytes)
  } finally {
    body.release()
  }
}

/** Refuses before the body is read. */
async function findOpenFile(context: Context, { session, fileId }: Upload): Promise<SessionFile> {
  if (!acceptsParts(session, unixNow(context))) throw sessionClosed()
  const file = await findSessionFile(context.database.db, session.session_id, fileId)
  if (!file) throw fileNotInSession()
  if (file.state === 'stored') throw fileStored()
  return file
}

async function storePart(
  context: TransfersContext,
  { session_id, provider }: Session,
  { file_id, content_type }: SessionFile,
  body: PartBody,
  maxBytes: number,
): Promise<UploadedPart> {
  const hash = hashAlong(body.bytes)
  // With the file's type: if this is the only part, its object becomes the file's.
  const object = await writePart(context, provider, content_type, body)
  const actual = hash()
  const sha256 = bare(actual)
  const { index, hashes } = body.declared()
  const expected = hashes.find((hash) => hash !== actual)
  const recorded = expected
    ? { refusal: partDiffers(expected, actual) }
    : await context.recordPart({ sessionId: session_id, fileId: file_id, index, object, sha256, maxBytes })
  if ('refusal' in recorded) {
    await removeObject(context, provider, object.id, object.ref)
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

async function writePart(
  context: TransfersContext,
  provider: string,
  contentType: string,
  { bytes, size }: PartBody,
): Promise<NewObject> {
  try {
    return await writeObject(context, provider, bytes, { contentType, size })
  } catch (error) {
    // A body without a declared length: here the part is too large, not the file.
    const isTooLarge = error instanceof ServiceError && error.code === 'UPLOAD_TOO_LARGE'
    throw isTooLarge ? partTooLarge(maxPartBytes(context, provider)) : error
  }
}
