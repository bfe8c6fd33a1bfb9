import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { status } from '@grpc/grpc-js'
import { type Gathering, gather } from '../batches.ts'
import { ProviderError } from '../provider.ts'
import type { Write } from './calls.ts'
import { findObject } from './find-object.ts'
import { CHUNK_BYTES, type Poured, pour } from './pour.ts'
import { removeChunks } from './remove-object.ts'
import { chunkName, type Store } from './store.ts'
import { isAnswered } from './errors.ts'

/** One write of one object. */
interface OwnWrite {
  id: string
  /** The object's name. */
  name: string
  /** What its chunks and its object bear. */
  write: string
  /** Of how many chunks something may be there. */
  begun: number
}

interface Limits {
  declaredSize: number | null
  maxBytes: number
}

export async function writeObject(store: Store, id: string, source: Readable, limits: Limits): Promise<number> {
  const gathering = gather(source)
  try {
    const { declaredSize, maxBytes } = limits
    if (declaredSize !== null && declaredSize > maxBytes) {
      throw new RangeError(`the store takes ${maxBytes} bytes in one object`)
    }
    // It would be refused at the end, when all its bytes have been paid for.
    const taken = await findObject(store, id)
    if (taken) throw takenBy(taken)
    const own = { id, name: store.objectName(id), write: randomBytes(8).toString('hex'), begun: 0 }
    return await writeOnce(store, own, gathering, limits)
  } finally {
    gathering.release()
  }
}

async function writeOnce(store: Store, own: OwnWrite, source: Gathering, limits: Limits): Promise<number> {
  try {
    const poured = await pour(source, limits, (n, data) => {
      own.begun = n + 1
      return store.commit([chunkWrite(own, n, data)])
    })
    own.begun = poured.kept + 1
    await publish(store, own, poured)
    return poured.size
  } catch (error) {
    if (own.begun === 0) throw error
    const isGone = await discard(store, own).then(
      () => true,
      () => false,
    )
    // Whoever keeps account of objects forgets one that was refused, and must not where something may be left of it.
    throw !isGone && error instanceof ProviderError ? new ProviderError('unavailable', error) : error
  }
}

/** In one step the last chunk is kept and the object is there, unless another is, or it was removed while it came. */
async function publish(store: Store, own: OwnWrite, { size, kept, last }: Poured): Promise<void> {
  const about = { write: { stringValue: own.write }, size: { integerValue: size } }
  const chunks = { chunks: { integerValue: kept + (last ? 1 : 0) }, chunk_bytes: { integerValue: CHUNK_BYTES } }
  try {
    await store.commit([
      ...(kept > 0 ? [firstIsThere(own)] : []),
      { update: { name: own.name, fields: { ...about, ...chunks } }, currentDocument: { exists: false } },
      ...(last ? [chunkWrite(own, kept, last)] : []),
    ])
  } catch (error) {
    if (kept > 0 && isAnswered(error, status.NOT_FOUND)) {
      throw new ProviderError('unavailable', new Error('the object was removed while it came', { cause: error }))
    }
    if (!isAnswered(error, status.ALREADY_EXISTS)) throw error
    // It may have been done though its answer was lost: then it is we who have taken the id.
    const found = await findObject(store, own.id)
    if (found?.write !== own.write) throw takenBy(error)
  }
}

function chunkWrite({ name, write }: OwnWrite, n: number, data: Buffer): Write {
  return { update: { name: chunkName(name, write, n), fields: { data: { bytesValue: data } } } }
}

/** Fails where the chunk is not there. The field is there as something must be written. */
function firstIsThere({ name, write }: OwnWrite): Write {
  const first = { name: chunkName(name, write, 0), fields: { first: { integerValue: 1 } } }
  return { update: first, updateMask: { fieldPaths: ['first'] }, currentDocument: { exists: true } }
}

/** Removes all of one write, also an object that is there though we were not told. */
async function discard(store: Store, { id, name, write, begun }: OwnWrite): Promise<void> {
  const found = await findObject(store, id)
  if (found?.write === write) await store.commit([{ delete: name }])
  await removeChunks(store, name, write, begun)
}

/** Ids are random, so this is a mistake of the caller and no trouble of the provider. */
function takenBy(cause: unknown): Error {
  return new Error('there is an object with this id', { cause })
}
