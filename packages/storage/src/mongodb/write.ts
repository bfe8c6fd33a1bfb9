import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { Long, ObjectId } from 'mongodb'
import { type Gathering, gather } from '../batches.ts'
import { ProviderError } from '../provider.ts'
import type { Ask, StepOptions } from './ask.ts'
import type { Bucket } from './bucket.ts'
import { discard, type Write } from './discard.ts'
import { CHUNK_BYTES, pour } from './pour.ts'
import { isTaken } from './errors.ts'

type Step = (options: StepOptions) => Promise<unknown>

export async function writeObject(
  bucket: Bucket,
  prepare: () => Promise<void>,
  id: string,
  source: Readable,
  declaredSize: number | null,
): Promise<number> {
  const gathering = gather(source)
  try {
    await prepare()
    return await writeOnce({ bucket, id, write: randomUUID() }, gathering, declaredSize)
  } finally {
    gathering.release()
  }
}

async function writeOnce(write: Write, source: Gathering, declaredSize: number | null): Promise<number> {
  try {
    await claim(write)
    const size = await pour(source, declaredSize, (n, data) => keepChunk(write, n, data))
    await publish(write, size)
    return size
  } catch (error) {
    // What went wrong before matters more than a failure of this: a claim that stays is swept one day.
    await discard(write).catch(() => {})
    throw error
  }
}

async function claim({ bucket: { files, ask }, id, write }: Write): Promise<void> {
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

async function keepChunk({ bucket: { chunks, ask }, id, write }: Write, n: number, data: Buffer): Promise<void> {
  const chunk = { _id: new ObjectId(), files_id: id, n, data, write }
  await insertOnce(
    ask,
    (options) => chunks.insertOne(chunk, options),
    (options) => chunks.findOne({ files_id: id, n, write }, { ...options, projection: { _id: 1 } }),
  )
}

/** An insert may have been done though its answer was lost: then it is we who have taken the key. */
async function insertOnce(ask: Ask, insert: Step, findOurs: Step): Promise<void> {
  try {
    await ask(insert)
  } catch (error) {
    if (!isTaken(error)) throw error
    if (await ask(findOurs)) return
    // Ids are random, so this is a mistake of the caller and no trouble of the provider.
    throw new Error('there is an object with this id, or one on its way', { cause: error })
  }
}

/** In one step the object is there, unless it was removed while it came. */
async function publish({ bucket: { files, ask }, id, write }: Write, size: number): Promise<void> {
  const whole = { length: Long.fromNumber(size), uploadDate: new Date(), 'metadata.isWhole': true }
  const { matchedCount } = await ask((options) =>
    files.updateOne({ _id: id, 'metadata.write': write }, { $set: whole }, options),
  )
  if (matchedCount === 0) throw new ProviderError('unavailable', new Error('the object was removed while it came'))
}
