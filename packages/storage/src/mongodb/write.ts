import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { Long, ObjectId } from 'mongodb'
import { type Batches, batchSource } from '../batches.ts'
import { writeChunks } from '../chunks.ts'
import { idTaken } from '../object-rules.ts'
import { ProviderError } from '../provider.ts'
import type { Ask, Bucket, StepOptions } from './bucket.ts'
import { isDuplicateKey } from './errors.ts'

/**
 * Takes half the processor time of the usual 255 KiB in both directions; larger chunks are no faster, and each transfer
 * would hold more memory.
 */
const CHUNK_BYTES = 1024 * 1024
/** Two, so that the next chunk is on its way while the provider makes one durable. */
export const CHUNKING = { chunkBytes: CHUNK_BYTES, atOnce: 2 }

/** One write of one object. */
interface Write {
  bucket: Bucket
  id: string
  /** Stored in its document and its chunks. */
  write: string
}

type Step = (options: StepOptions) => Promise<unknown>

export async function writeObject(
  bucket: Bucket,
  prepare: () => Promise<void>,
  id: string,
  source: Readable,
  declaredSize: number | null,
): Promise<number> {
  const batches = batchSource(source)
  try {
    await prepare()
    return await writeOnce({ bucket, id, write: randomUUID() }, batches, declaredSize)
  } finally {
    batches.release()
  }
}

async function writeOnce(write: Write, source: Batches, declaredSize: number | null): Promise<number> {
  try {
    await claim(write)
    const { size } = await writeChunks(source, { ...CHUNKING, declaredSize }, (n, data) => insertChunk(write, n, data))
    await publish(write, size)
    return size
  } catch (error) {
    // The first failure matters more than one of this cleanup: a remaining claim is swept later.
    await discard(write).catch(() => {})
    throw error
  }
}

/** Also succeeds when the same write has the claim. */
export async function claim({ bucket: { files, ask }, id, write }: Write): Promise<void> {
  const document = {
    _id: id,
    filename: id,
    length: 0,
    chunkSize: CHUNK_BYTES,
    uploadDate: new Date(),
    metadata: { write, isWhole: false },
  }
  await insertOnce(
    ask,
    (options) => files.insertOne(document, options),
    (options) => files.findOne({ _id: id, 'metadata.write': write }, options),
  )
}

async function insertChunk({ bucket: { chunks, ask }, id, write }: Write, n: number, data: Buffer): Promise<void> {
  const chunk = { _id: new ObjectId(), files_id: id, n, data, write }
  await insertOnce(
    ask,
    (options) => chunks.insertOne(chunk, options),
    (options) => chunks.findOne({ files_id: id, n, write }, { ...options, projection: { _id: 1 } }),
  )
}

/** An insert may have succeeded although its answer was lost: then the duplicate key is our own. */
export async function insertOnce(ask: Ask, insert: Step, findOwn: Step): Promise<void> {
  try {
    await ask(insert)
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
    if (!(await ask(findOwn))) throw idTaken(error)
  }
}

/** One update makes the object exist, unless it was removed while it was written. */
async function publish({ bucket: { files, ask }, id, write }: Write, size: number): Promise<void> {
  const whole = { length: Long.fromNumber(size), uploadDate: new Date(), 'metadata.isWhole': true }
  const { matchedCount } = await ask((options) =>
    files.updateOne({ _id: id, 'metadata.write': write }, { $set: whole }, options),
  )
  if (matchedCount === 0) throw new ProviderError('unavailable', 'the object was removed while it was written')
}

/** Removes everything of one write. The claim goes last: while it exists, the chunks are not forgotten. */
export async function discard({ bucket: { files, chunks, ask }, id, write }: Write): Promise<void> {
  await ask((options) => chunks.deleteMany({ files_id: id, write }, options))
  await ask((options) => files.deleteOne({ _id: id, 'metadata.write': write }, options))
}
