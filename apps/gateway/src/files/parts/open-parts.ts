import type { Readable } from 'node:stream'
import { singleFlight } from '@svc/concurrency/sharing'
import { toHex } from '@svc/protocol/bytes'
import type { PartsUpload } from '@svc/storage/provider'
import { type Context, unixNow } from '../../context.ts'
import { storageError } from '../errors.ts'
import { insertObject } from '../object-store.ts'
import { removeObject } from '../objects.ts'
import type { PartRow } from './part-store.ts'
import { maxPartBytes, type WrittenPart } from './record-parts.ts'
import { findSessionFile, lockSession, type Session, type SessionFile, updateSessionFile } from './store.ts'

/** Returns the object into which a part can be written directly; null when the part must be an object of its own. */
export type OpenParts = (
  session: Session,
  file: SessionFile,
  part: { index: number; size: number },
) => Promise<PartsUpload | null>

/** Creates the object with the first part that reveals the part length. */
export function createPartsOpener(context: Context): OpenParts {
  const share = singleFlight<PartsUpload | null>()
  return async (session, file, part) => {
    const opened = openUploadOf(file)
    if (opened || !mayBegin(context, session, file, part)) return opened
    return share(fileKey(file), () => begin(context, session, file, part.size))
  }
}

export function fileKey({ session_id, file_id }: SessionFile): string {
  return `${session_id}/${file_id}`
}

export function uploadOf({ object_id, upload_ref, content_type }: SessionFile): PartsUpload | null {
  if (object_id === null || upload_ref === null) return null
  return { id: object_id, ref: upload_ref, contentType: content_type }
}

function openUploadOf(file: SessionFile): PartsUpload | null {
  return file.upload_state === 'open' ? uploadOf(file) : null
}

interface PartPosition {
  index: number
  size: number
  isLast: boolean
  /** The limit for the file. */
  maxBytes: number
}

/** Null, with nothing read, when the part must be an object of its own. */
export async function writeInPlace(
  { providers, openParts }: Context & { openParts: OpenParts },
  session: Session,
  file: SessionFile,
  position: PartPosition,
  bytes: Readable,
): Promise<Pick<WrittenPart, 'object' | 'ref'> | null> {
  const upload = await openParts(session, file, position)
  if (!upload) return null
  try {
    const ref = await providers.named(session.provider).parts.write(upload, position, bytes)
    return ref === null ? null : { object: { id: upload.id, ref: null, size: position.size }, ref }
  } catch (error) {
    throw storageError(error)
  }
}

/** Removes a part that was not recorded. */
export async function dropPart(
  context: Context,
  session: Session,
  { object, ref }: Pick<WrittenPart, 'object' | 'ref'>,
): Promise<void> {
  if (ref === null) await removeObject(context, session.provider, object.id, object.ref)
  else await discardPart(context, session, { object_id: object.id, part_ref: ref })
}

/**
 * Removes a part in place that is not recorded, or no longer. If that fails, it is removed together with the object.
 */
export async function discardPart(
  { providers, log }: Context,
  { provider }: Session,
  { object_id, part_ref }: Pick<PartRow, 'object_id' | 'part_ref'>,
): Promise<void> {
  try {
    if (part_ref !== null) await providers.named(provider).parts.discard?.(object_id, part_ref)
  } catch (error) {
    log.warn({ object_id, err: error }, 'cannot remove a part; retrying later')
  }
}

const MEBIBYTE = 1_048_576

/**
 * The last part may be shorter than the others, and a file of one part is already one object. With concurrent uploads
 * the first part to arrive may be any part; a length in whole mebibytes suggests that it is not the last.
 */
function mayBegin(
  context: Context,
  { provider }: Session,
  { size_bytes, upload_state }: SessionFile,
  { index, size }: { index: number; size: number },
): boolean {
  const isOpen = upload_state === null || upload_state === 'open'
  const isFullPart = index === 0 || size % MEBIBYTE === 0 || size === maxPartBytes(context, provider)
  const isWholeFile = size_bytes !== null && size_bytes <= size
  return isOpen && isFullPart && !isWholeFile && context.providers.named(provider).parts.accepts(size)
}

async function begin(
  context: Context,
  session: Session,
  file: SessionFile,
  partBytes: number,
): Promise<PartsUpload | null> {
  const { db, commit } = context.database
  const id = await announce(context, session, file)
  if (id === null) return null
  const { parts } = context.providers.named(session.provider)
  const ref = await parts.begin(id, { contentType: file.content_type, partBytes }).catch((error) => {
    throw storageError(error)
  })
  // If several gateways begin at the same time, the first one wins.
  await commit(async (tx) => {
    await lockSession(tx, session.session_id)
    const current = await findSessionFile(tx, session.session_id, file.file_id)
    if (current?.object_id === id && current.upload_ref === null) await updateSessionFile(tx, file, { upload_ref: ref })
  })
  const current = await findSessionFile(db, session.session_id, file.file_id)
  return current && openUploadOf(current)
}

/** The row of the object is written before its first byte, and the session holds it from the start. */
async function announce(context: Context, { session_id, locker_id, provider }: Session, file: SessionFile) {
  return context.database.commit(async (tx) => {
    await lockSession(tx, session_id)
    const current = await findSessionFile(tx, session_id, file.file_id)
    if (current?.upload_state === 'open') return current.object_id
    if (current?.state !== 'open' || current.upload_state !== null) return null
    const object_id = toHex(context.randomBytes(16))
    const since = unixNow(context)
    await insertObject(tx, { object_id, provider, state: 'held', since, locker_id })
    await updateSessionFile(tx, file, { object_id, upload_state: 'open' })
    return object_id
  })
}
