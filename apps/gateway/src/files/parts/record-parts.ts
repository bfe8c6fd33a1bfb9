// The only way for bytes to become part of an upload, whatever the protocol. They are complete and durable beforehand;
// they count once this transaction commits.

import type { ServiceError } from '@svc/service/service-error'
import { restrictionError } from '../../auth/restrictions.ts'
import { type Context, unixNow } from '../../context.ts'
import type { Tx } from '../../db/schema.ts'
import { type Grant, grantOf, isGranted, isStillGranted } from '../../lockers/access.ts'
import { refusalOf } from '../../lockers/quota.ts'
import { lockLocker } from '../../lockers/store.ts'
import { uploadAbandoned } from '../errors.ts'
import { holdObject, releaseObjects } from '../object-store.ts'
import { maxObjectBytes, type NewObject } from '../objects.ts'
import { fileNotInSession, fileSealed, fileStored, fileTooLarge, sessionClosed, uploadTokenInvalid } from './errors.ts'
import { deletePartsOf, findPartsBetween, type Part, putPart } from './part-store.ts'
import { findSessionFile, lockSession, type Session, type SessionFile, updateSessionFile } from './store.ts'

/** A part that is written but not recorded. */
export interface WrittenPart {
  index: number
  object: NewObject
  /** The provider's name for the part within the file's object; null when the part is its own object. */
  ref: string | null
  /** In the format of `part-digest.ts`. */
  digest: string
  /** The base64 checksum of the file's algorithm; stored with the part. */
  checksum?: string | null
}

interface Recording {
  sessionId: string
  fileId: string
  /** The access of the sender. The key that opened the session needs access, too. */
  grant: Grant
  /** In order. A later part replaces an earlier one with the same index. */
  parts: readonly WrittenPart[]
  /** The limit for all parts of the file together. */
  maxBytes: number
  /**
   * Set for a file that grows at its end: it must have this many bytes, and each part replaces all parts from its index
   * on.
   */
  offset?: number
  /** Stores the file once it is complete, even if the client does not return. */
  isStored?: boolean
}

/**
 * `replaced`: parts that are no longer referenced. `movedTo`: the file is not at the offset, or accepts no parts now.
 * After a refusal nothing has changed, and the caller must remove the objects.
 */
export type Recorded =
  | { totalBytes: number; replaced: ReplacedPart[] }
  | { refusal: ServiceError }
  | { movedTo: number }

type ReplacedPart = Pick<Part, 'object_id' | 'provider_ref' | 'part_ref'>

/** Durable when it resolves. */
export function recordParts(context: Context, recording: Recording): Promise<Recorded> {
  return context.database.commit(async (tx) => {
    const session = await lockSession(tx, recording.sessionId)
    if (!session) return { refusal: sessionClosed() }
    const refusal = await obstacleOf(tx, session, recording, unixNow(context))
    return refusal ? { refusal } : record(tx, context, session, recording)
  })
}

/** A part may take long: its sender or the session may have been revoked meanwhile. */
async function obstacleOf(tx: Tx, session: Session, { grant }: Recording, now: number): Promise<ServiceError | null> {
  if (!(await isStillGranted(tx, session, grant))) return uploadTokenInvalid()
  if (!acceptsParts(session, now)) return sessionClosed()
  if (!isGranted(session, grantOf(session))) return uploadTokenInvalid()
  return restrictionError(session)
}

export function acceptsParts({ closed_at, expires_at }: Pick<Session, 'closed_at' | 'expires_at'>, now: number) {
  return closed_at === null && now < expires_at
}

export function maxFileBytes(context: Context, provider: string, { size_bytes }: SessionFile): number {
  return size_bytes ?? maxObjectBytes(context, provider)
}

/** A part is its own object, so the provider's limit applies to it. */
export function maxPartBytes({ config, providers }: Context, provider: string): number {
  return Math.min(config.storage.partMaxBytes, providers.named(provider).maxBytes)
}

/** A file accepts no parts while its object is being completed. */
export function isSealed({ upload_state }: SessionFile): boolean {
  return upload_state === 'sealed'
}

async function record(tx: Tx, context: Context, session: Session, recording: Recording): Promise<Recorded> {
  const { sessionId, fileId, parts, maxBytes, offset, isStored } = recording
  const now = unixNow(context)
  const file = await findSessionFile(tx, sessionId, fileId)
  if (!file) return { refusal: fileNotInSession() }
  if (file.state === 'stored' || (file.state === 'failed' && offset !== undefined)) return { refusal: fileStored() }
  const isAccepted = (offset ?? file.received_bytes) === file.received_bytes && acceptsNewParts(file, parts)
  if (!isAccepted) return offset === undefined ? { refusal: fileSealed() } : { movedTo: file.received_bytes }
  const { added, replaced, superseded } = await planOf(tx, file, recording)
  const [inObject, separate] = [replaced.filter(isIn(file)), replaced.filter((part) => !isIn(file)(part))]
  const totalBytes = file.received_bytes + bytesOf(added.map(({ object }) => object.size)) - partBytes(replaced)
  if (totalBytes > maxBytes) return { refusal: fileTooLarge(maxBytes) }
  // A replaced part stays in the file's object.
  const strayBytes = partBytes(inObject)
  const addedBytes = totalBytes + strayBytes - file.received_bytes
  const refusal = await reserveParts(tx, context, session, addedBytes, partBytes(separate))
  if (refusal) {
    const inPlace = parts.filter(({ ref }) => ref !== null).map(({ object }) => object.size)
    if (inPlace.length > 0) await updateSessionFile(tx, file, { stray_bytes: file.stray_bytes + bytesOf(inPlace) })
    return { refusal }
  }
  if (!(await holdAll(tx, session, added, now))) return { refusal: uploadAbandoned() }
  const indexes = new Set(added.map(({ index }) => index))
  await deletePartsOf(
    tx,
    file,
    replaced.filter(({ part_index }) => !indexes.has(part_index)),
  )
  await releaseObjects(
    tx,
    separate.map(({ object_id }) => object_id),
    now,
  )
  for (const part of added) await putPart(tx, rowOf(file, part, now))
  const last = added.at(-1)?.index ?? -1
  await updateSessionFile(tx, file, {
    // A file that failed by its hash may be tried again.
    state: 'open',
    error: null,
    content_hash: null,
    received_bytes: totalBytes,
    stray_bytes: file.stray_bytes + strayBytes,
    part_count: file.part_count + added.length - replaced.length,
    top_index: offset === undefined ? Math.max(file.top_index, last) : last,
    revision: file.revision + 1,
  })
  if (isStored && totalBytes === file.size_bytes) await storeLater(tx, context, session)
  return { totalBytes, replaced: [...replaced, ...superseded] }
}

/** Parts in place must belong to the file's current object, which must accept parts. */
function acceptsNewParts(file: SessionFile, parts: readonly WrittenPart[]): boolean {
  const isOpen = (object: NewObject) => file.object_id === object.id && file.upload_state === 'open'
  return !isSealed(file) && parts.every(({ object, ref }) => ref === null || isOpen(object))
}

interface Plan {
  added: WrittenPart[]
  /** Recorded earlier. */
  replaced: Part[]
  /** Written for this recording, but not recorded. */
  superseded: ReplacedPart[]
}

async function planOf(tx: Tx, file: SessionFile, { parts, offset }: Recording): Promise<Plan> {
  const grows = offset !== undefined
  const first = Math.min(...parts.map(({ index }) => index))
  const last = grows ? file.top_index : Math.max(...parts.map(({ index }) => index))
  const indexes = new Set(parts.map(({ index }) => index))
  const existing = first <= last ? await findPartsBetween(tx, file, first, last) : []
  const replaced = existing.filter(({ part_index }) => grows || indexes.has(part_index))
  let added: WrittenPart[] = []
  const superseded: ReplacedPart[] = []
  for (const part of parts) {
    const isReplaced = ({ index }: WrittenPart) => (grows ? index >= part.index : index === part.index)
    superseded.push(...added.filter(isReplaced).map(writtenPart))
    added = [...added.filter((before) => !isReplaced(before)), part]
  }
  return { added, replaced, superseded }
}

function writtenPart({ object, ref }: WrittenPart): ReplacedPart {
  return { object_id: object.id, provider_ref: object.ref, part_ref: ref }
}

function isIn(file: SessionFile): (part: Part) => boolean {
  return ({ object_id }) => object_id === file.object_id
}

function bytesOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0)
}

function partBytes(parts: readonly Part[]): number {
  return bytesOf(parts.map(({ size_bytes }) => size_bytes))
}

/** False, with none held, when the sweep has removed a part because writing it took too long. */
async function holdAll(tx: Tx, { locker_id }: Session, parts: readonly WrittenPart[], now: number): Promise<boolean> {
  const held: string[] = []
  for (const { object, ref } of parts) {
    if (ref !== null) continue
    if (!(await holdObject(tx, object, locker_id, now))) {
      await releaseObjects(tx, held, now)
      return false
    }
    held.push(object.id)
  }
  return true
}

function rowOf(
  { session_id, file_id }: SessionFile,
  { index, object, ref, digest, checksum = null }: WrittenPart,
  now: number,
) {
  return {
    session_id,
    file_id,
    part_index: index,
    object_id: object.id,
    size_bytes: object.size,
    sha256: digest,
    checksum,
    part_ref: ref,
    part_start: null,
    received_at: now,
  }
}

/**
 * Reserves quota for uploaded parts; a negative amount returns it. Returns the error, reserving nothing, when the quota
 * is exceeded. Locks the locker, so that concurrent recordings respect the quota (T-56). The caller holds the lock of
 * the session and rejects a restricted one: lifting a restriction locks the sessions.
 */
async function reserveParts(
  tx: Tx,
  context: Context,
  { locker_id }: Session,
  addedBytes: number,
  releasedBytes: number,
): Promise<ServiceError | null> {
  if (!context.config.lockers.enforcesTerms) return null
  const added = { parts: addedBytes, ...(releasedBytes > 0 && { trash: 0 }), mayHaveEnded: true }
  return refusalOf(context, tx, await lockLocker(tx, locker_id), added)
}

/** The request with the last byte stores the file. A job does so if that request was interrupted. */
const STORED_LATER_SECONDS = 60

async function storeLater(tx: Tx, { queue }: Context, { session_id }: Session): Promise<void> {
  await queue.enqueue(tx, 'finalize-upload', { session_id }, { key: session_id, delaySeconds: STORED_LATER_SECONDS })
}
