// Parts in slots: a part is a run of whole chunks. A document `claim-<index>` beside the chunks claims the slot for one
// writer, and is removed only when a write has failed and has ended, or when the object is complete.

import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { status } from '@grpc/grpc-js'
import { slices } from '../absent.ts'
import { batchSource } from '../batches.ts'
import { writeChunks } from '../chunks.ts'
import { areAdjacent, chunkBytesOf, endOf, slotOf } from '../part-slots.ts'
import {
  type CompletedParts,
  type NewPart,
  type ObjectParts,
  type PartsUpload,
  ProviderError,
  type WrittenPart,
} from '../provider.ts'
import type { DocumentWrite } from './calls.ts'
import { hasStatus } from './errors.ts'
import { chunkName, findObject, type Store } from './store.ts'
import { CHUNKING, chunkWrite, removeAll, requireChunk } from './write.ts'

/** The chunks of all parts contain it, like the name of a write in its chunks. */
const WRITE = 'parts'
/** Claims are small. */
const CLAIMS_PER_COMMIT = 200

export function firestoreParts(store: Store): ObjectParts {
  return {
    accepts: (partBytes) => chunkBytesOf(partBytes, CHUNKING.chunkBytes) !== null,
    begin: async (_id, { partBytes }) => `${partBytes}`,
    write: (upload, part, bytes) => writePart(store, upload, part, bytes),
    complete: (upload, parts) => complete(store, upload, parts),
  }
}

const chunkBytesIn = ({ ref }: PartsUpload) => chunkBytesOf(Number(ref), CHUNKING.chunkBytes) as number // accepted
const claimName = (store: Store, id: string, index: number) => chunkName(store.objectName(id), 'claim', index)

async function writePart(store: Store, upload: PartsUpload, part: NewPart, source: Readable): Promise<string | null> {
  const { id, ref } = upload
  const chunkBytes = chunkBytesIn(upload)
  const start = slotOf(part, Number(ref))
  if (start === null || (part.size % chunkBytes !== 0 && !part.isLast)) return null
  const write = { name: store.objectName(id), write: WRITE }
  const first = start / chunkBytes
  const claim = claimName(store, id, part.index)
  const batches = batchSource(source)
  try {
    if (!(await claimSlot(store, claim))) return null
    // Its claims were already removed, so this is not the first claim of the slot.
    if (await findObject(store, id)) {
      await removeAll(store, [claim])
      return null
    }
    try {
      const sizes = { chunkBytes, atOnce: CHUNKING.atOnce, declaredSize: part.size }
      await writeChunks(batches, sizes, (n, data) => store.commit([chunkWrite(write, first + n, data)]))
      await requireClaim(store, claim)
      return `${start}`
    } catch (error) {
      const chunks = Array.from({ length: Math.ceil(part.size / chunkBytes) }, (_, n) =>
        chunkName(write.name, WRITE, first + n),
      )
      await removeAll(store, [...chunks, claim]).catch(() => {})
      throw error
    }
  } finally {
    batches.release()
  }
}

/** False when another writer has the slot. */
async function claimSlot(store: Store, name: string): Promise<boolean> {
  const writer = randomBytes(8).toString('hex')
  const fields = { writer: { stringValue: writer } }
  try {
    await store.commit([{ update: { name, fields }, currentDocument: { exists: false } }])
    return true
  } catch (error) {
    if (!hasStatus(error, status.ALREADY_EXISTS)) throw error
    // The commit may have succeeded although its answer was lost: then the claim is ours.
    const [found] = await store.fetch([name], null)
    return found?.fields.writer?.stringValue === writer
  }
}

/** The claim is gone when the object was removed, or completed without this part. */
async function requireClaim(store: Store, name: string): Promise<void> {
  const done: DocumentWrite = {
    update: { name, fields: { done: { integerValue: 1 } } },
    updateMask: { fieldPaths: ['done'] },
    currentDocument: { exists: true },
  }
  await store.commit([done]).catch((error) => {
    throw hasStatus(error, status.NOT_FOUND) ? new ProviderError('unavailable', error) : error
  })
}

async function complete(
  store: Store,
  upload: PartsUpload,
  parts: readonly WrittenPart[],
): Promise<CompletedParts | null> {
  const { id, ref } = upload
  const size = endOf(parts)
  const chunkBytes = chunkBytesIn(upload)
  const starts = parts.map((part) => Number(part.ref))
  const name = store.objectName(id)
  const fields = {
    write: { stringValue: WRITE },
    size: { integerValue: size },
    chunks: { integerValue: Math.ceil(size / chunkBytes) },
    chunk_bytes: { integerValue: chunkBytes },
  }
  try {
    await store.commit([
      requireChunk({ name, write: WRITE }, (starts[0] ?? 0) / chunkBytes),
      { update: { name, fields }, currentDocument: { exists: false } },
    ])
  } catch (error) {
    if (hasStatus(error, status.NOT_FOUND)) return null
    if (!hasStatus(error, status.ALREADY_EXISTS)) throw error
  }
  for (const some of slices(parts, CLAIMS_PER_COMMIT)) {
    await store.commit(some.map(({ index }) => ({ delete: claimName(store, id, index) })))
  }
  return { size, ref: null, isExact: areAdjacent(parts, Number(ref)), starts }
}
