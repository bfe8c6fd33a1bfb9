// One file of an upload session, from its parts into the locker.

import type { Limit } from '@svc/concurrency/locks'
import { withPrefix } from '@svc/protocol/bytes'
import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../../context.ts'
import type { Locker, Schema } from '../../db/schema.ts'
import { hashAlong } from '../../files/confirm/hash-object.ts'
import { type NewObject, removeObject, writeObject } from '../../files/objects.ts'
import { putFileIn } from '../../files/put-file.ts'
import type { FilesContext } from '../../files/room.ts'
import { releaseObjects } from '../../files/store.ts'
import { joinParts, LostPart } from './join-parts.ts'
import { deletePart, findParts, type Part, releaseParts } from './part-store.ts'
import { findSessionFile, lockSession, type SessionFile, updateSessionFile } from './store.ts'

export interface Finalizing {
  locker: Locker
  leaseId: string
  copyInTurn: Limit
}

interface Whole {
  object: NewObject
  contentHash: string
  /** The object of the only part, which is not copied. */
  isPart: boolean
}

/** Whether there is nothing more to come, as far as anybody can tell. */
export function isWhole({ size_bytes, received_bytes, part_count, top_index }: SessionFile): boolean {
  const isEmpty = size_bytes === 0 && part_count === 0
  const isClosed = part_count > 0 && part_count === top_index + 1
  return (isEmpty || isClosed) && (size_bytes ?? received_bytes) === received_bytes
}

/** How often parts may change while they are put together, before the file is left for another time. */
const TRIES = 3

/** Stores a file that is whole, and leaves any other as it is. `superseded`: another gateway does it by now. */
export async function storeSessionFile(
  context: FilesContext,
  finalizing: Finalizing,
  { session_id, file_id }: SessionFile,
): Promise<'done' | 'superseded'> {
  const { db } = context.database
  const { provider } = finalizing.locker
  for (let i = 0; i < TRIES; i++) {
    const file = await findSessionFile(db, session_id, file_id)
    if (file?.state !== 'open' || !isWhole(file)) return 'done'
    const parts = await findParts(db, session_id, file_id)
    const [part] = parts
    const whole = part && parts.length === 1 ? onlyPart(part) : await copyParts(context, finalizing, file, parts)
    if (!whole) return 'done'
    const outcome = await db.transaction().execute((tx) => settleFile(tx, context, finalizing, file, whole))
    if (outcome === 'stored') return 'done'
    if (!whole.isPart) await removeObject(context, provider, whole.object.id, whole.object.ref)
    if (outcome !== 'changed') return outcome === 'refused' ? 'done' : outcome
  }
  return 'done'
}

function onlyPart({ object_id, provider_ref, size_bytes, sha256 }: Part): Whole {
  const object = { id: object_id, ref: provider_ref, size: size_bytes }
  return { object, contentHash: withPrefix(sha256), isPart: true }
}

/** Null when a part is found to be lost. */
async function copyParts(
  context: FilesContext,
  { locker: { provider }, copyInTurn }: Finalizing,
  file: SessionFile,
  parts: readonly Part[],
): Promise<Whole | null> {
  const size = parts.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  try {
    return await copyInTurn(async () => {
      const bytes = joinParts(context.providers.named(provider), parts)
      const hash = hashAlong(bytes)
      const object = await writeObject(context, provider, bytes, { contentType: file.content_type, size })
      return { object, contentHash: hash(), isPart: false }
    })
  } catch (error) {
    if (!(error instanceof LostPart)) throw error
    await forgetPart(context, error.part)
    return null
  }
}

/** In one transaction: the locker has the file, and the session knows; or neither. */
async function settleFile(
  tx: Transaction<Schema>,
  context: FilesContext,
  { locker, leaseId }: Finalizing,
  file: SessionFile,
  { object, contentHash, isPart }: Whole,
): Promise<'stored' | 'refused' | 'changed' | 'superseded'> {
  const { session_id, file_id, expected_hash: expectedHash } = file
  const session = await lockSession(tx, session_id)
  if (session?.lease_id !== leaseId) return 'superseded'
  const current = await findSessionFile(tx, session_id, file_id)
  if (current?.state !== 'open' || current.revision !== file.revision) return 'changed'
  if (expectedHash !== null && expectedHash !== contentHash) {
    await updateSessionFile(tx, file, { state: 'failed', error: 'HASH_MISMATCH', content_hash: contentHash })
    return 'refused'
  }
  await updateSessionFile(tx, file, { state: 'stored', content_hash: contentHash })
  await releaseParts(tx, { session_id, file_id }, { since: unixNow(context), ...(isPart && { except: object.id }) })
  await putFileIn(tx, context, locker, {
    filename: file.filename,
    object,
    contentType: file.content_type,
    expectedHash,
    contentHash,
    mayCreate: true,
    ...(isPart && { isHeld: true }),
  })
  return 'stored'
}

/** It counts as missing from now on, so that it is sent again. */
async function forgetPart(context: Context, part: Part): Promise<void> {
  const { session_id, file_id, part_index, object_id, size_bytes } = part
  context.log.error({ session_id, file_id, part_index, object_id }, 'a part is not what was stored')
  await context.database.db.transaction().execute(async (tx) => {
    await lockSession(tx, session_id)
    const file = await findSessionFile(tx, session_id, file_id)
    if (!file || !(await deletePart(tx, part))) return
    await releaseObjects(tx, [object_id], unixNow(context))
    await updateSessionFile(tx, file, {
      received_bytes: file.received_bytes - size_bytes,
      part_count: file.part_count - 1,
      revision: file.revision + 1,
    })
  })
}
