// Storing one file of an upload session: its parts become one object, which the locker takes as a file.

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Limit } from '@svc/concurrency/locks'
import { withPrefix } from '@svc/protocol/bytes'
import type { StorageProvider } from '@svc/storage/provider'
import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../../context.ts'
import type { Locker, Schema } from '../../db/schema.ts'
import { hashAlong } from '../../files/confirm/hash-object.ts'
import { type NewObject, removeObject, writeObject } from '../../files/objects.ts'
import { putFileIn } from '../../files/put-file.ts'
import type { FilesContext } from '../../files/room.ts'
import { releaseObjects } from '../../files/store.ts'
import { AccessEnded, type Grant } from '../../lockers/access.ts'
import { deletePart, findParts, type Part, releaseParts } from './part-store.ts'
import { findSessionFile, lockSession, type SessionFile, updateSessionFile } from './store.ts'

export interface Finalizing {
  locker: Locker
  /** Of whoever opened the session. */
  grant: Grant
  leaseId: string
  limitCopies: Limit
}

interface JoinedFile {
  object: NewObject
  contentHash: string
  /** Whether the object is that of the only part, which needs no copy. */
  isPart: boolean
}

/** Whether all parts are there, as far as the declared size and the indexes tell. */
export function isComplete({ size_bytes, received_bytes, part_count, top_index }: SessionFile): boolean {
  const isEmpty = size_bytes === 0 && part_count === 0
  const isWithoutGaps = part_count > 0 && part_count === top_index + 1
  return (isEmpty || isWithoutGaps) && (size_bytes ?? received_bytes) === received_bytes
}

/** How often to start over when parts change meanwhile. Then the file stays open. */
const MAX_ATTEMPTS = 3

/**
 * Stores a complete file; an incomplete one stays open. `superseded`: another gateway has taken over the session, or the
 * session was revoked.
 */
export async function storeFile(
  context: FilesContext,
  finalizing: Finalizing,
  { session_id, file_id }: SessionFile,
): Promise<'done' | 'superseded'> {
  const { db } = context.database
  const { provider } = finalizing.locker
  for (let i = 0; i < MAX_ATTEMPTS; i++) {
    const file = await findSessionFile(db, session_id, file_id)
    if (file?.state !== 'open' || !isComplete(file)) return 'done'
    const parts = await findParts(db, session_id, file_id)
    const [part] = parts
    const joined = part && parts.length === 1 ? onlyPart(part) : await copyParts(context, finalizing, file, parts)
    if (!joined) return 'done'
    const outcome = await db
      .transaction()
      .execute((tx) => commitFile(tx, context, finalizing, file, joined))
      .catch(supersededIfRevoked)
    if (outcome === 'stored') return 'done'
    if (!joined.isPart) await removeObject(context, provider, joined.object.id, joined.object.ref)
    if (outcome !== 'changed') return outcome === 'refused' ? 'done' : outcome
  }
  return 'done'
}

function supersededIfRevoked(error: unknown): 'superseded' {
  if (error instanceof AccessEnded) return 'superseded'
  throw error
}

function onlyPart({ object_id, provider_ref, size_bytes, sha256 }: Part): JoinedFile {
  const object = { id: object_id, ref: provider_ref, size: size_bytes }
  return { object, contentHash: withPrefix(sha256), isPart: true }
}

/** Null when a part turns out to be lost. */
async function copyParts(
  context: FilesContext,
  { locker: { provider }, limitCopies }: Finalizing,
  file: SessionFile,
  parts: readonly Part[],
): Promise<JoinedFile | null> {
  const size = parts.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  try {
    return await limitCopies(async () => {
      const bytes = joinParts(context.providers.named(provider), parts)
      const hash = hashAlong(bytes)
      const object = await writeObject(context, provider, bytes, { contentType: file.content_type, size })
      return { object, contentHash: hash(), isPart: false }
    })
  } catch (error) {
    if (!(error instanceof LostPartError)) throw error
    await deleteLostPart(context, error.part)
    return null
  }
}

/** Room for a chunk of a provider's stream and the next one. */
const HIGH_WATER_MARK = 1_048_576

/** The parts as one stream. Each is opened when its turn comes, and checked against its hash. */
function joinParts(provider: StorageProvider, parts: readonly Part[]): Readable {
  async function* bytes(): AsyncGenerator<Buffer> {
    for (const part of parts) yield* readPart(provider, part)
  }
  return Readable.from(bytes(), { objectMode: false, highWaterMark: HIGH_WATER_MARK })
}

async function* readPart(provider: StorageProvider, part: Part): AsyncGenerator<Buffer> {
  const stream = await provider.read({ id: part.object_id, ref: part.provider_ref })
  if (!stream) throw new LostPartError(part)
  const sha256 = createHash('sha256')
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    sha256.update(chunk)
    yield chunk
  }
  if (sha256.digest('hex') !== part.sha256) throw new LostPartError(part)
}

/** The stored part is gone or has changed. */
class LostPartError extends Error {
  override name = 'LostPartError'
  readonly part: Part

  constructor(part: Part) {
    super(`part ${part.part_index} is lost or changed`)
    this.part = part
  }
}

/** One transaction changes the locker and the session. */
async function commitFile(
  tx: Transaction<Schema>,
  context: FilesContext,
  { locker, leaseId, grant }: Finalizing,
  file: SessionFile,
  { object, contentHash, isPart }: JoinedFile,
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
    grant,
    contentType: file.content_type,
    expectedHash,
    contentHash,
    mayCreate: true,
    ...(isPart && { isHeld: true }),
  })
  return 'stored'
}

/** From now on the part is missing, and the client sends it again. */
async function deleteLostPart(context: Context, part: Part): Promise<void> {
  const { session_id, file_id, part_index, object_id, size_bytes } = part
  context.log.error({ session_id, file_id, part_index, object_id }, 'a stored part is lost or changed')
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
