// Completes a file whose parts were written in place. Its object is completed with those parts; if a part does not fit,
// the file is copied from the object instead.

import type { CompletedParts, PartsUpload } from '@svc/storage/provider'
import { type Context, unixNow } from '../../context.ts'
import type { Tx } from '../../db/schema.ts'
import { storageError } from '../errors.ts'
import { releaseObjects } from '../object-store.ts'
import {
  copyParts,
  deleteLostParts,
  type Finalizing,
  type JoinedFile,
  nullIfLost,
  streamOf,
  underLease,
} from './copy-parts.ts'
import { fileKey } from './open-parts.ts'
import { digestsOf, findParts, type Part, updatePart } from './part-store.ts'
import { maxFileBytes } from './record-parts.ts'
import { findSessionFile, type SessionFile, updateSessionFile } from './store.ts'

/** A file whose object was completed: its parts can then be read from the object. */
export interface CompletedFile extends JoinedFile {
  completed: CompletedParts
}

/** Null when parts are lost. `changed`: parts arrived meanwhile, or another gateway holds the session. */
export async function completeFile(
  context: Context,
  finalizing: Finalizing,
  upload: PartsUpload,
  file: SessionFile,
): Promise<JoinedFile | CompletedFile | 'changed' | null> {
  const { db } = context.database
  if (file.upload_state !== 'complete') {
    if (!(await seal(context, finalizing, file))) return 'changed'
    if (!(await placeParts(context, finalizing, upload, file))) return null
  }
  const parts = await findParts(db, file.session_id, file.file_id)
  if (file.upload_state === 'complete') return copyParts(context, finalizing, file, parts)
  const inPlace = parts.filter(isInPlace)
  const unseal = () => underLease(context, finalizing, file, (tx) => startOver(tx, context, file))
  if (inPlace.length === 0) return (await unseal()) ? copyParts(context, finalizing, file, parts) : 'changed'
  const completed = await complete(context, finalizing, upload, inPlace)
  if (!completed) {
    await deleteLostParts(context, finalizing, inPlace)
    await unseal()
    return null
  }
  if (completed.isExact && inPlace.length === parts.length) {
    const contentHash = await hashOf(context, finalizing, file, parts, completed)
    if (contentHash === null) return null
    return { object: { id: upload.id, size: completed.size, ref: completed.ref }, contentHash, isHeld: true, completed }
  }
  if (!(await underLease(context, finalizing, file, (tx) => recordCompleted(tx, file, completed)))) return 'changed'
  return copyParts(context, finalizing, file, await findParts(db, file.session_id, file.file_id))
}

const isInPlace = ({ part_ref }: Part) => part_ref !== null

/** Each moved part is a durable write of its own: copying the whole file is faster than moving many parts. */
const MAX_MOVED = 100

/**
 * Moves parts that are separate objects into the file's object until one does not fit; empty parts need no position.
 * False when a part is lost.
 */
async function placeParts(
  context: Context,
  finalizing: Finalizing,
  upload: PartsUpload,
  file: SessionFile,
): Promise<boolean> {
  const { locker, limitCopies } = finalizing
  const { db } = context.database
  const provider = context.providers.named(locker.provider)
  const parts = await findParts(db, file.session_id, file.file_id)
  const maxBytes = maxFileBytes(context, locker.provider, file)
  const separate = parts.filter((part) => !isInPlace(part) && part.size_bytes > 0)
  if (separate.length > MAX_MOVED) return true
  for (const part of separate) {
    const isLast = part.part_index === file.top_index
    const position = { index: part.part_index, size: part.size_bytes, isLast, maxBytes }
    const placed = await nullIfLost(context, finalizing, () =>
      limitCopies(async () => ({ ref: await provider.parts.write(upload, position, streamOf(provider, [part])) })),
    ).catch((error) => {
      throw storageError(error)
    })
    if (!placed) return false
    const { ref } = placed
    // The file is copied instead.
    if (ref === null) return true
    await underLease(context, finalizing, file, async (tx) => {
      if (!(await updatePart(tx, part, { object_id: upload.id, part_ref: ref }))) return
      await releaseObjects(tx, [part.object_id], unixNow(context))
    })
  }
  return true
}

/** Fixes the parts. False when they changed, or another gateway holds the session. */
async function seal(context: Context, finalizing: Finalizing, file: SessionFile): Promise<boolean> {
  let isUnchanged = false
  const isLeased = await underLease(context, finalizing, file, async (tx) => {
    const current = await findSessionFile(tx, file.session_id, file.file_id)
    isUnchanged = current?.revision === file.revision
    if (isUnchanged) await updateSessionFile(tx, file, { upload_state: 'sealed' })
  })
  return isLeased && isUnchanged
}

async function complete(
  { providers }: Context,
  { locker }: Finalizing,
  upload: PartsUpload,
  inPlace: readonly Part[],
): Promise<CompletedParts | null> {
  const written = inPlace.map(({ part_index: index, size_bytes: size, part_ref }) => ({ index, size, ref: part_ref! }))
  try {
    return await providers.named(locker.provider).parts.complete(upload, written)
  } catch (error) {
    throw storageError(error)
  }
}

/** Bytes that are read again for the hash are verified part by part. Null when a part is lost. */
async function hashOf(
  context: Context,
  finalizing: Finalizing,
  file: SessionFile,
  parts: readonly Part[],
  completed: CompletedParts,
): Promise<string | null> {
  const provider = context.providers.named(finalizing.locker.provider)
  const placed = parts.map((part, i) => ({ ...part, part_start: completed.starts[i]! }))
  const readFrom = async (index: number) => streamOf(provider, placed.slice(index))
  return nullIfLost(
    context,
    finalizing,
    () => context.partHashes.ofFile(fileKey(file), digestsOf(parts), readFrom),
    (tx) => recordCompleted(tx, file, completed),
  ).catch((error) => {
    throw storageError(error)
  })
}

/** Unseals the file. Its current parts are then read from the completed object. */
export async function recordCompleted(tx: Tx, file: SessionFile, { starts }: CompletedParts): Promise<void> {
  const parts = await findParts(tx, file.session_id, file.file_id)
  for (const [i, part] of parts.filter(isInPlace).entries()) await updatePart(tx, part, { part_start: starts[i]! })
  await updateSessionFile(tx, file, { upload_state: 'complete' })
}

/** Resets the file to the state before any part was written in place. */
async function startOver(tx: Tx, context: Context, file: SessionFile): Promise<void> {
  await updateSessionFile(tx, file, { object_id: null, upload_ref: null, upload_state: null, stray_bytes: 0 })
  await releaseObjects(tx, [file.object_id!], unixNow(context))
}
