// Upload sessions, new or resumed. The gateway shows a session's token only once, so the journal stores it.

import { fileUrls } from '@svc/api/files'
import { openUploadSession, readUploadSession, type UploadSessionStatus } from '@svc/api/upload-sessions'
import { call } from '../calls/call.ts'
import { type Context, gatewayNow } from '../context.ts'
import { isGatewayError, NameTaken } from '../errors.ts'
import { journalEntry } from '../journal.ts'
import { SMALL_FILE_BYTES, type StoredFile, type Upload } from './upload.ts'

/** The journal record of a session. */
interface SessionRecord {
  session_id: string
  file_id: string
  token: string
  partBytes: number
}

export interface OpenSession extends SessionRecord {
  /** Whether the gateway has the part of this index. */
  has(index: number): boolean
  /** The number of parts stored by an interrupted upload. */
  storedParts: number
  /** Removes the session from the journal. */
  forget(): Promise<void>
}

export async function openSession(context: Context, upload: Upload, size: number | null): Promise<OpenSession> {
  const { locker, filename, contentType, expectedHash, options } = upload
  if (expectedHash === null) {
    return { ...(await beginSession(context, upload, size)), ...NO_PARTS, forget: async () => {} }
  }
  const kind = options.overwrite === false ? 'new upload' : 'upload'
  const key = `${kind} ${context.baseUrl} ${locker.locker_id} ${expectedHash} ${contentType} ${filename}`
  const entry = journalEntry<SessionRecord>(context.journal, key)
  const forget = async () => void (await entry.write(null))
  const begun = await entry.read()
  const status = begun && (await statusOf(context, begun, upload))
  if (begun && status) return { ...begun, ...partsOf(status, begun.file_id), forget }
  const session = await beginSession(context, upload, size)
  await entry.write(session)
  return { ...session, ...NO_PARTS, forget }
}

async function beginSession(context: Context, upload: Upload, size: number | null): Promise<SessionRecord> {
  const { locker, filename, contentType, expectedHash, options } = upload
  const { locker_id, receipt_id } = locker
  const file = {
    filename,
    content_type: contentType,
    ...(size !== null && { size_bytes: size }),
    ...(expectedHash && { expected_hash: expectedHash }),
    ...(options.overwrite === false && { overwrite: false }),
  }
  const { body } = await call(context, openUploadSession, {
    params: { locker_id },
    body: { receipt_id, files: [file] },
    signal: options.signal,
  }).catch(nameTaken)
  const { session_id, upload_token: token, part_max_bytes, files } = body
  return { session_id, token, file_id: files[0]?.file_id ?? '', partBytes: Math.min(part_max_bytes, SMALL_FILE_BYTES) }
}

function nameTaken(error: unknown): never {
  if (!isGatewayError(error, 'PRECONDITION_FAILED')) throw error
  throw new NameTaken(String(error.details.filename))
}

/** Null for a session that cannot be resumed. */
async function statusOf(
  context: Context,
  { session_id, token }: SessionRecord,
  upload: Upload,
): Promise<UploadSessionStatus | null> {
  try {
    const { body } = await call(context, readUploadSession, { params: { session_id }, token })
    const isOpen = body.status === 'partial' && Date.parse(body.expires_at) > gatewayNow(context)
    return isOpen || (body.status === 'complete' && (await findSame(context, upload)) !== null) ? body : null
  } catch (error) {
    if (isGatewayError(error, 'SESSION_NOT_FOUND', 'UPLOAD_TOKEN_INVALID')) return null
    throw error
  }
}

/**
 * The file of this name if it has the same bytes. A session remains complete even if its file was replaced or removed.
 */
export async function findSame(
  context: Context,
  { locker, filename, expectedHash }: Upload,
): Promise<StoredFile | null> {
  const { locker_id } = locker
  const { body } = await call(context, fileUrls, { params: { locker_id }, body: { filenames: [filename] } })
  const { content_hash = null, size_bytes = null } = body.urls[0] ?? {}
  const isSame = content_hash !== null && size_bytes !== null && content_hash === expectedHash
  return isSame ? { filename, size_bytes, content_hash } : null
}

/** The gateway lists only the first gaps. Parts after the last listed gap are sent again. */
const MAX_LISTED_GAPS = 100

type Parts = Pick<OpenSession, 'has' | 'storedParts'>
const NO_PARTS: Parts = { has: () => false, storedParts: 0 }

function partsOf({ files, status }: UploadSessionStatus, fileId: string): Parts {
  const file = files.find(({ file_id }) => file_id === fileId)
  if (!file || file.state === 'failed') return NO_PARTS
  if (status === 'complete' || file.state === 'stored')
    return { has: () => true, storedParts: Number.POSITIVE_INFINITY }
  const missing = new Set(file.missing_parts)
  const end = missing.size < MAX_LISTED_GAPS ? file.parts + missing.size : Math.max(...missing)
  return { has: (index) => index < end && !missing.has(index), storedParts: file.parts }
}
