// Parts in slots: a part is a run of whole chunks. A chunk with a negative number claims the slot for one writer, and
// is removed only when a write has failed and has ended, or when the object is complete.

import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { Long, ObjectId } from 'mongodb'
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
import type { Bucket } from './bucket.ts'
import { isDuplicateKey } from './errors.ts'
import { CHUNKING, claim, insertOnce } from './write.ts'

/** The chunks of all parts contain it, like the name of a write in its chunks. */
const WRITE = 'parts'

export function mongodbParts(bucket: Bucket, prepare: () => Promise<void>): ObjectParts {
  return {
    accepts: (partBytes) => chunkBytesOf(partBytes, CHUNKING.chunkBytes) !== null,
    async begin(id, { partBytes }) {
      await prepare()
      await claim({ bucket, id, write: WRITE })
      return `${partBytes}`
    },
    write: (upload, part, bytes) => writePart(bucket, upload, part, bytes),
    complete: (upload, parts) => complete(bucket, upload, parts),
  }
}

const chunkBytesIn = ({ ref }: PartsUpload) => chunkBytesOf(Number(ref), CHUNKING.chunkBytes) as number // accepted
const claimOf = (index: number) => -1 - index

async function writePart(bucket: Bucket, upload: PartsUpload, part: NewPart, source: Readable): Promise<string | null> {
  const { id, ref } = upload
  const chunkBytes = chunkBytesIn(upload)
  const start = slotOf(part, Number(ref))
  if (start === null || (part.size % chunkBytes !== 0 && !part.isLast)) return null
  const mine = randomUUID()
  const batches = batchSource(source)
  try {
    if (!(await isOpen(bucket, id)) || !(await claimSlot(bucket, id, part.index, mine))) return null
    try {
      const sizes = { ...CHUNKING, chunkBytes, declaredSize: part.size }
      await writeChunks(batches, sizes, (n, data) => insert(bucket, id, start / chunkBytes + n, data, mine))
      if (!(await isOpen(bucket, id))) throw new ProviderError('unavailable', 'the object accepts no more parts')
      return `${start}`
    } catch (error) {
      await discard(bucket, id, part.index, mine).catch(() => {})
      throw error
    }
  } finally {
    batches.release()
  }
}

async function isOpen({ files, ask }: Bucket, id: string): Promise<boolean> {
  const unfinished = { _id: id, 'metadata.write': WRITE, 'metadata.isWhole': false }
  return (await ask((options) => files.findOne(unfinished, options))) !== null
}

async function insert({ chunks, ask }: Bucket, id: string, n: number, data: Buffer, part: string): Promise<void> {
  const chunk = { _id: new ObjectId(), files_id: id, n, data, write: WRITE, part }
  await insertOnce(
    ask,
    (options) => chunks.insertOne(chunk, options),
    (options) => chunks.findOne({ files_id: id, n, part }, { ...options, projection: { _id: 1 } }),
  )
}

/** False when another writer has the slot. */
async function claimSlot(bucket: Bucket, id: string, index: number, part: string): Promise<boolean> {
  try {
    await insert(bucket, id, claimOf(index), Buffer.alloc(0), part)
    return true
  } catch (error) {
    if (error instanceof Error && isDuplicateKey(error.cause)) return false
    throw error
  }
}

/** Removes the claim last. */
async function discard({ chunks, ask }: Bucket, id: string, index: number, part: string): Promise<void> {
  const own = { files_id: id, part }
  await ask((options) => chunks.deleteMany({ ...own, n: { $gte: 0 } }, options))
  await ask((options) => chunks.deleteMany({ ...own, n: claimOf(index) }, options))
}

async function complete(
  { files, chunks, ask }: Bucket,
  upload: PartsUpload,
  parts: readonly WrittenPart[],
): Promise<CompletedParts | null> {
  const { id, ref } = upload
  const size = endOf(parts)
  const whole = { length: Long.fromNumber(size), chunkSize: chunkBytesIn(upload), 'metadata.isWhole': true }
  const { matchedCount } = await ask((options) =>
    files.updateOne({ _id: id, 'metadata.write': WRITE }, { $set: { ...whole, uploadDate: new Date() } }, options),
  )
  if (matchedCount === 0) return null
  await ask((options) => chunks.deleteMany({ files_id: id, n: { $lt: 0 } }, options))
  const starts = parts.map((part) => Number(part.ref))
  return { size, ref: null, isExact: areAdjacent(parts, Number(ref)), starts }
}
