// Records bytes that are durable: the offset of an upload moves in the same transaction as its parts.

import type { ServiceError } from '@svc/http-service/service-error'
import { restrictionError } from '../auth/restrictions.ts'
import { type Context, unixNow } from '../context.ts'
import type { Tx } from '../db/schema.ts'
import { uploadAbandoned } from '../files/errors.ts'
import { holdObject, releaseObjects } from '../files/object-store.ts'
import type { NewObject } from '../files/objects.ts'
import { grantOf, isGranted } from '../lockers/access.ts'
import { deletePartsOf, putPart } from '../transfers/sessions/part-store.ts'
import { acceptsParts, isSealed, reserveParts } from '../transfers/sessions/record-part.ts'
import { findSessionFile, lockSession, type SessionFile, updateSessionFile } from '../transfers/sessions/store.ts'
import { offsetMismatch, uploadGone } from './errors.ts'
import { findPartsFrom } from './store.ts'
import { FILE_ID } from './upload.ts'

/** A part that takes the place of all parts from its index on. */
export interface WrittenPart {
  index: number
  object: NewObject
  /** The provider's name for it in the file's object; null when the object is its own. */
  ref: string | null
  /** Hex. */
  sha256: string
}

interface Recording {
  sessionId: string
  /** Where the bytes begin: somebody else may have moved it since. */
  offset: number
  /** How many there are. */
  bytes: number
  /** In order; a later one may replace an earlier one. */
  parts: readonly WrittenPart[]
  /** Whether the file is to be stored when it is whole, even if the client does not come back. */
  isStored: boolean
}

/** The objects that were replaced; or why nothing was changed, with the objects left to the caller. */
type Recorded = { replaced: { id: string; ref: string | null }[] } | { refusal: ServiceError }
export type RecordBlocks = (recording: Recording) => Promise<Recorded>

/** The request that brings the last byte stores the file. A job does where that was cut off. */
const STORED_LATER_SECONDS = 60

export function createBlockRecorder(context: Context): RecordBlocks {
  return (recording) => context.database.commit((tx) => record(tx, context, recording))
}

async function record(
  tx: Tx,
  context: Context,
  { sessionId, offset, bytes, parts, isStored }: Recording,
): Promise<Recorded> {
  const now = unixNow(context)
  const session = await lockSession(tx, sessionId)
  if (!session || !acceptsParts(session, now) || !isGranted(session, grantOf(session))) return { refusal: uploadGone() }
  const restriction = restrictionError(session)
  if (restriction) return { refusal: restriction }
  const file = await findSessionFile(tx, session.session_id, FILE_ID)
  if (file?.state !== 'open') return { refusal: uploadGone() }
  if (file.received_bytes !== offset || !takes(file, parts)) return { refusal: offsetMismatch(file.received_bytes) }
  const refusal = await reserveParts(tx, context, session, bytes)
  if (refusal) {
    await updateSessionFile(tx, file, { stray_bytes: file.stray_bytes + inPlaceBytes(parts) })
    return { refusal }
  }
  for (const { object, ref } of parts) {
    // The batch is one transaction: what is refused must not have changed anything.
    if (ref === null && !(await holdObject(tx, object, session.locker_id, now))) {
      await releaseHeld(tx, parts, now)
      return { refusal: uploadAbandoned() }
    }
  }
  const replaced = await putParts(tx, file, parts, now)
  const top_index = parts.at(-1)?.index ?? file.top_index
  const received_bytes = offset + bytes
  await updateSessionFile(tx, file, {
    received_bytes,
    part_count: top_index + 1,
    top_index,
    revision: file.revision + 1,
  })
  if (isStored && received_bytes === file.size_bytes) {
    const { session_id } = session
    const later = { key: session_id, delaySeconds: STORED_LATER_SECONDS }
    await context.queue.enqueue(tx, 'finalize-upload', { session_id }, later)
  }
  return { replaced }
}

/** Parts in place belong to the object that the file has now, while that takes parts. */
function takes(file: SessionFile, parts: readonly WrittenPart[]): boolean {
  const isOpen = (object: NewObject) => file.object_id === object.id && file.upload_state === 'open'
  return !isSealed(file) && parts.every(({ object, ref }) => ref === null || isOpen(object))
}

function inPlaceBytes(parts: readonly WrittenPart[]): number {
  return parts.reduce((sum, { object, ref }) => sum + (ref === null ? 0 : object.size), 0)
}

async function releaseHeld(tx: Tx, parts: readonly WrittenPart[], now: number): Promise<void> {
  const aside = parts.filter(({ ref }) => ref === null).map(({ object }) => object.id)
  await releaseObjects(tx, aside, now)
}

async function putParts(tx: Tx, file: SessionFile, parts: readonly WrittenPart[], now: number) {
  const { session_id, file_id } = file
  const replaced: { id: string; ref: string | null }[] = []
  for (const { index, object, ref, sha256 } of parts) {
    if (index <= file.top_index || parts.length > 1) {
      const before = await findPartsFrom(tx, file, index)
      const aside = before.filter(({ object_id }) => object_id !== file.object_id)
      await deletePartsOf(tx, file, before)
      await releaseObjects(
        tx,
        aside.map(({ object_id }) => object_id),
        now,
      )
      replaced.push(...aside.map(({ object_id, provider_ref }) => ({ id: object_id, ref: provider_ref })))
    }
    const place = { session_id, file_id, part_index: index, object_id: object.id, size_bytes: object.size }
    await putPart(tx, { ...place, sha256, checksum: null, part_ref: ref, part_start: null, received_at: now })
  }
  return replaced
}
