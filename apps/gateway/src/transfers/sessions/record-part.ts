// Records parts that are complete and durable.

import type { ServiceError } from '@svc/http-service/service-error'
import { restrictionError } from '../../auth/restrictions.ts'
import { type Context, unixNow } from '../../context.ts'
import type { Tx } from '../../db/schema.ts'
import { uploadAbandoned } from '../../files/errors.ts'
import { holdObject, releaseObjects } from '../../files/object-store.ts'
import { maxObjectBytes, type NewObject } from '../../files/objects.ts'
import { type Grant, grantOf, isGranted, isStillGranted } from '../../lockers/access.ts'
import { refusalOf } from '../../lockers/quota.ts'
import { lockLocker } from '../../lockers/store.ts'
import { fileNotInSession, fileSealed, fileStored, fileTooLarge, sessionClosed, uploadTokenInvalid } from './errors.ts'
import { findPart, type PartRow, putPart } from './part-store.ts'
import { findSessionFile, lockSession, type Session, type SessionFile, updateSessionFile } from './store.ts'

interface NewPart {
  sessionId: string
  fileId: string
  /** Who sent it; whoever opened the session needs access, too. */
  grant: Grant
  index: number
  object: NewObject
  /** The provider's name for it in the file's object; null when the object is the part's own. */
  ref: string | null
  /** Hex. */
  sha256: string
  checksum: string | null
  /** For all parts of the file together. */
  maxBytes: number
}

/** `replaced`: a part in place that was there before, and that nothing names any more. */
type RecordedPart = { totalBytes: number; replaced: PartRow | null } | { refusal: ServiceError }
export type RecordPart = (part: NewPart) => Promise<RecordedPart>

/** Durable when it resolves. A refusal changes nothing, and leaves the object to the caller. */
export function createPartRecorder(context: Context): RecordPart {
  return (part) =>
    context.database.commit(async (tx) => {
      const session = await lockSession(tx, part.sessionId)
      if (!session) return { refusal: sessionClosed() }
      const refusal = await obstacleOf(tx, session, part, unixNow(context))
      return refusal ? { refusal } : recordPart(tx, context, session, part)
    })
}

/** A part may take long: its sender, or the session, may have been revoked meanwhile. */
async function obstacleOf(tx: Tx, session: Session, { grant }: NewPart, now: number): Promise<ServiceError | null> {
  if (!(await isStillGranted(tx, session, grant))) return uploadTokenInvalid()
  if (!acceptsParts(session, now)) return sessionClosed()
  if (!isGranted(session, grantOf(session))) return uploadTokenInvalid()
  return restrictionError(session)
}

/**
 * Reserves quota for bytes that an upload has brought, less where they are fewer, and for those that it gives up with
 * that. Returns the error, reserving nothing, when the quota is exceeded. It locks the locker, so that parts which are
 * recorded together keep to the limit (T-166). The caller holds the lock of the session, and refuses one that is
 * restricted: what lifts that locks its sessions.
 */
export async function reserveParts(
  tx: Tx,
  context: Context,
  { locker_id }: Session,
  parts: number,
  givenUp = 0,
): Promise<ServiceError | null> {
  if (!context.config.lockers.enforcesTerms) return null
  const added = { parts, ...(givenUp > 0 && { trash: 0 }), mayHaveEnded: true }
  return refusalOf(context, tx, await lockLocker(tx, locker_id), added)
}

export function acceptsParts({ closed_at, expires_at }: Pick<Session, 'closed_at' | 'expires_at'>, now: number) {
  return closed_at === null && now < expires_at
}

export function maxFileBytes(context: Context, provider: string, { size_bytes }: SessionFile): number {
  return size_bytes ?? maxObjectBytes(context, provider)
}

/** A part is an object of its own, so the provider's limit applies to it. */
export function maxPartBytes({ config, providers }: Context, provider: string): number {
  return Math.min(config.storage.partMaxBytes, providers.named(provider).maxBytes)
}

/** While its object is completed, a file takes no parts. */
export function isSealed({ upload_state }: SessionFile): boolean {
  return upload_state === 'sealed'
}

function takesInPlace({ object_id, upload_state }: SessionFile, objectId: string): boolean {
  return object_id === objectId && upload_state === 'open'
}

async function recordPart(tx: Tx, context: Context, session: Session, part: NewPart): Promise<RecordedPart> {
  const now = unixNow(context)
  const { object, index, maxBytes } = part
  const file = await findSessionFile(tx, part.sessionId, part.fileId)
  if (!file) return { refusal: fileNotInSession() }
  if (file.state === 'stored') return { refusal: fileStored() }
  const isInPlace = part.ref !== null
  if (isSealed(file) || (isInPlace && !takesInPlace(file, object.id))) return { refusal: fileSealed() }
  const { session_id, file_id } = file
  const row = { session_id, file_id, part_index: index, object_id: object.id, size_bytes: object.size }
  const before = await findPart(tx, row)
  const totalBytes = file.received_bytes + object.size - (before?.size_bytes ?? 0)
  if (totalBytes > maxBytes) return { refusal: fileTooLarge(maxBytes) }
  const replaced = before && before.object_id === file.object_id ? before : null
  const stray = replaced?.size_bytes ?? 0
  const givenUp = replaced ? 0 : (before?.size_bytes ?? 0)
  const refusal = await reserveParts(tx, context, session, totalBytes + stray - file.received_bytes, givenUp)
  if (refusal) {
    if (isInPlace) await updateSessionFile(tx, file, { stray_bytes: file.stray_bytes + object.size })
    return { refusal }
  }
  if (!isInPlace && !(await holdObject(tx, object, session.locker_id, now))) return { refusal: uploadAbandoned() }
  const { sha256, checksum, ref: part_ref } = part
  await putPart(tx, { ...row, sha256, checksum, part_ref, part_start: null, received_at: now })
  if (before && before.object_id !== file.object_id) await releaseObjects(tx, [before.object_id], now)
  await updateSessionFile(tx, file, {
    // A file that failed by its hash gets another chance.
    state: 'open',
    error: null,
    content_hash: null,
    received_bytes: totalBytes,
    stray_bytes: file.stray_bytes + stray,
    part_count: file.part_count + (before ? 0 : 1),
    top_index: Math.max(file.top_index, index),
    revision: file.revision + 1,
  })
  return { totalBytes, replaced }
}
