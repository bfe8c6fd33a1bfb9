// Stores a part of a file, whatever the protocol. A part counts once it is complete, durable and matches the declared
// hash. A broken connection leaves nothing behind.

import type { Readable } from 'node:stream'
import { bare, withPrefix } from '@svc/protocol/bytes'
import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../../context.ts'
import type { Grant } from '../../lockers/access.ts'
import { requireQuota } from '../../lockers/quota.ts'
import { hashStream } from '../hash-stream.ts'
import { type NewObject, writeObject } from '../objects.ts'
import { findLockerOf } from '../store.ts'
import {
  fileNotInSession,
  fileSealed,
  fileStored,
  fileTooLarge,
  partDiffers,
  partTooLarge,
  sessionClosed,
} from './errors.ts'
import { discardPart, dropPart, fileKey, uploadOf, writeInPlace } from './open-parts.ts'
import { findPart } from './part-store.ts'
import { acceptsParts, isSealed, maxFileBytes, recordParts, type WrittenPart } from './record-parts.ts'
import { findSessionFile, type Session, type SessionFile } from './store.ts'

/** A part that is being received. */
export interface ArrivingPart {
  session: Session
  file: SessionFile
  /** The access of the sender. */
  grant: Grant
  maxPartBytes: number
  bytes: Readable
  /** Null when unknown in advance. */
  size: number | null
  /** Null when unknown before the last byte. */
  index: number | null
  /** Whether to compute the part's own SHA-256, which takes as long as the file's. Small parts always get one. */
  hasSha256: boolean
  /** Available after the last byte: in JSON, the fields may follow the data. */
  declared(): DeclaredPart
}

export interface DeclaredPart {
  index: number
  /** The bytes must have each of these hashes, which include the prefix. */
  hashes: readonly string[]
  /** The base64 checksum of the file's algorithm; stored with the part. */
  checksum?: string | null
}

export interface StoredPart {
  index: number
  size: number
  /** In the format of `part-digest.ts`. */
  digest: string
  /** The bytes of all parts of the file. */
  totalBytes: number
}

/** Rejects a part before its body is read. */
export async function requireOpenFile(context: Context, session: Session, fileId: string): Promise<SessionFile> {
  if (!acceptsParts(session, unixNow(context))) throw sessionClosed()
  const file = await findSessionFile(context.database.db, session.session_id, fileId)
  if (!file) throw fileNotInSession()
  if (file.state === 'stored') throw fileStored()
  if (isSealed(file)) throw fileSealed()
  return file
}

/** From this size on a part is large and is written in place, and so is a smaller last part that follows. */
const LARGE_BYTES = 256 * 1024

export async function storePart(context: Context, arriving: ArrivingPart): Promise<StoredPart> {
  const { session, file, size, index } = arriving
  const maxBytes = maxFileBytes(context, session.provider, file)
  if (size !== null && size > maxBytes) throw fileTooLarge(maxBytes)
  await requireQuotaForPart(context, session, file, size ?? 0)
  const isLarge = size !== null && (size >= LARGE_BYTES || (size > 0 && uploadOf(file) !== null))
  return isLarge && index !== null && size !== file.size_bytes
    ? storeLarge(context, arriving, { size, index, maxBytes })
    : storeSeparately(context, arriving, maxBytes)
}

/**
 * Runs before the bytes are read. A file without a declared size may exceed the quota by one part, which is counted
 * when it is stored.
 */
export async function requireQuotaForPart(
  context: Context,
  { locker_id }: Session,
  { filename, size_bytes, received_bytes }: SessionFile,
  parts: number,
): Promise<void> {
  const { config, database } = context
  if (!config.lockers.enforcesTerms) return
  const locker = await findLockerOf(database.db, { locker_id })
  const named = size_bytes === null ? [{ filename, bytes: received_bytes }] : []
  if (locker) await requireQuota(context, locker, { named, parts, trash: 0 })
}

/** Gives the part a SHA-256, which is the hash of the file if this is its only part. */
async function storeSeparately(context: Context, arriving: ArrivingPart, maxBytes: number): Promise<StoredPart> {
  const hashed = hashStream(context.hashThread, arriving.bytes as AsyncIterable<Buffer>, arriving.size)
  try {
    const object = await writeSeparately(context, arriving, hashed.bytes)
    return await recordPart(context, arriving, { object, ref: null, digest: bare(await hashed.hash()) }, maxBytes)
  } finally {
    hashed.close()
  }
}

interface PartPosition {
  index: number
  size: number
  maxBytes: number
}

async function storeLarge(context: Context, arriving: ArrivingPart, position: PartPosition): Promise<StoredPart> {
  const { session, file } = arriving
  const { index, size, maxBytes } = position
  const hasSha256 = arriving.hasSha256 || size < LARGE_BYTES || (await context.mayBeReadByOlderRelease())
  const source = arriving.bytes as AsyncIterable<Buffer>
  const passing = context.partHashes.along({ file: fileKey(file), index, hasSha256 }, source, (digest) => {
    const difference = differenceOf(arriving.declared(), digest)
    if (difference) throw difference
  })
  const { bytes } = passing
  // A rejected part cannot be removed from the object, so it must not be written there. A provider may also overwrite
  // the previous part, which counts until this one is recorded, or keep both (T-11).
  const isRefused = Math.max(file.received_bytes, index * size) + size > maxBytes
  const isNew = !isRefused && !(await findPart(context.database.db, { ...file, part_index: index }))
  try {
    const inPlace = isNew ? await writeInPlace(context, session, file, { ...position, isLast: false }, bytes) : null
    const written = inPlace ?? { object: await writeSeparately(context, arriving, bytes), ref: null }
    const recorded = await recordPart(context, arriving, { ...written, digest: passing.digest() }, maxBytes)
    await passing.stored()
    return recorded
  } finally {
    passing.close()
  }
}

/** Uses the file's type: if this is the only part, its object becomes the file's object. */
async function writeSeparately(
  context: Context,
  { session: { provider }, file, size, maxPartBytes }: ArrivingPart,
  bytes: Readable,
): Promise<NewObject> {
  try {
    return await writeObject(context, provider, bytes, { contentType: file.content_type, size })
  } catch (error) {
    // The body had no declared length: here the part is too large, not the file.
    const isTooLarge = error instanceof ServiceError && error.code === 'UPLOAD_TOO_LARGE'
    throw isTooLarge ? partTooLarge(maxPartBytes) : error
  }
}

async function recordPart(
  context: Context,
  { session, file, grant, ...arriving }: ArrivingPart,
  written: Pick<WrittenPart, 'object' | 'ref' | 'digest'>,
  maxBytes: number,
): Promise<StoredPart> {
  const declared = arriving.declared()
  const { index, checksum = null } = declared
  const part = { ...written, index, checksum }
  const { session_id: sessionId, file_id: fileId } = file
  const refusal = differenceOf(declared, part.digest)
  const recorded = refusal
    ? { refusal }
    : await recordParts(context, { sessionId, fileId, grant, parts: [part], maxBytes })
  if (!('replaced' in recorded)) {
    await dropPart(context, session, part)
    throw 'refusal' in recorded ? recorded.refusal : fileSealed()
  }
  // The other objects are left to the sweep: a copy of the file may be reading them.
  for (const { object_id, part_ref } of recorded.replaced)
    if (part_ref !== null) await discardPart(context, session, { object_id, part_ref })
  return { index, size: part.object.size, digest: part.digest, totalBytes: recorded.totalBytes }
}

/** Compares the declared hashes with the digest, which is a SHA-256 if hashes are declared. */
function differenceOf({ hashes }: DeclaredPart, digest: string): ServiceError | null {
  const actual = withPrefix(digest)
  const expected = hashes.find((hash) => hash !== actual)
  return expected === undefined ? null : partDiffers(expected, actual)
}
