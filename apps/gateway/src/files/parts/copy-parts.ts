// Reads parts as one stream, wherever they are stored, and copies them into a new object.

import { Readable } from 'node:stream'
import type { Limit } from '@svc/concurrency/locks'
import type { StorageProvider } from '@svc/storage/provider'
import { type Context, unixNow } from '../../context.ts'
import type { Locker, Tx } from '../../db/schema.ts'
import type { Grant } from '../../lockers/access.ts'
import { hashStream } from '../hash-stream.ts'
import { releaseObjects } from '../object-store.ts'
import { type NewObject, writeObject } from '../objects.ts'
import { startCheck } from './part-digest.ts'
import { deletePart, type Part } from './part-store.ts'
import { isSealed } from './record-parts.ts'
import { findSessionFile, lockSession, type SessionFile, updateSessionFile } from './store.ts'

export interface Finalizing {
  locker: Locker
  /** The access of the caller who opened the session. */
  grant: Grant
  leaseId: string
  limitCopies: Limit
}

/** The bytes of a file as one object. */
export interface JoinedFile {
  object: NewObject
  contentHash: string
  /** Whether the session holds the object, as the object of one part or of all parts. */
  isHeld: boolean
}

/** Null when a part turns out to be lost. */
export function copyParts(
  context: Context,
  finalizing: Finalizing,
  file: SessionFile,
  parts: readonly Part[],
): Promise<JoinedFile | null> {
  const { provider } = finalizing.locker
  const size = parts.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  return nullIfLost(context, finalizing, () =>
    finalizing.limitCopies(async () => {
      const source = streamOf(context.providers.named(provider), parts) as AsyncIterable<Buffer>
      const hashed = hashStream(context.hashThread, source, size)
      try {
        const object = await writeObject(context, provider, hashed.bytes, { contentType: file.content_type, size })
        return { object, contentHash: await hashed.hash(), isHeld: false }
      } finally {
        hashed.close()
      }
    }),
  )
}

/** Allows a chunk of a provider's stream and the next one to be buffered. */
const HIGH_WATER_MARK = 1_048_576

/** Opens each part only when the stream reaches it, and verifies its digest. */
export function streamOf(provider: StorageProvider, parts: readonly Part[]): Readable {
  async function* bytes(): AsyncGenerator<Buffer> {
    for (const part of parts) yield* readPart(provider, part)
  }
  return Readable.from(bytes(), { objectMode: false, highWaterMark: HIGH_WATER_MARK })
}

async function* readPart(provider: StorageProvider, part: Part): AsyncGenerator<Buffer> {
  const { object_id: id, provider_ref: ref, part_start: start, size_bytes } = part
  const range = start === null ? undefined : { start, end: start + size_bytes - 1 }
  const stream = await provider.read({ id, ref }, range)
  if (!stream) throw new LostPartError(part)
  const check = startCheck(part.sha256)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    check.update(chunk)
    yield chunk
  }
  if (!check.isSame()) throw new LostPartError(part)
}

/** A stored part is missing or has changed. */
export class LostPartError extends Error {
  override name = 'LostPartError'
  readonly part: Part

  constructor(part: Part) {
    super(`part ${part.part_index} is lost or changed`)
    this.part = part
  }
}

type Change = (tx: Tx) => Promise<void>

/** Marks a lost part as missing, so that the client sends it again. `before` runs in the same transaction. */
export async function nullIfLost<Result>(
  context: Context,
  finalizing: Finalizing,
  work: () => Promise<Result>,
  before?: Change,
): Promise<Result | null> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof LostPartError)) throw error
    await deleteLostParts(context, finalizing, [error.part], before)
    return null
  }
}

/** Deletes lost parts of one file and unseals it. */
export async function deleteLostParts(
  context: Context,
  finalizing: Finalizing,
  parts: readonly Part[],
  before?: Change,
): Promise<void> {
  const { session_id, file_id } = parts[0]!
  const lost = parts.map(({ part_index, object_id }) => ({ part_index, object_id }))
  context.log.error({ session_id, file_id, parts: lost }, 'stored parts are lost or changed')
  await underLease(context, finalizing, { session_id }, async (tx) => {
    await before?.(tx)
    const file = await findSessionFile(tx, session_id, file_id)
    if (!file) return
    let { received_bytes, part_count } = file
    for (const part of parts) {
      if (!(await deletePart(tx, part))) continue
      if (part.object_id !== file.object_id) await releaseObjects(tx, [part.object_id], unixNow(context))
      received_bytes -= part.size_bytes
      part_count -= 1
    }
    const unsealed = isSealed(file) && { upload_state: 'open' as const }
    await updateSessionFile(tx, file, { received_bytes, part_count, revision: file.revision + 1, ...unsealed })
  })
}

/** Runs a change while the session is locked. False, with nothing changed, when another gateway holds the session. */
export async function underLease(
  { database }: Context,
  { leaseId }: Finalizing,
  { session_id }: Pick<SessionFile, 'session_id'>,
  change: Change,
): Promise<boolean> {
  return database.commit(async (tx) => {
    if ((await lockSession(tx, session_id))?.lease_id !== leaseId) return false
    await change(tx)
    return true
  })
}
