import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { status } from '@grpc/grpc-js'
import { type Batches, batchSource } from '../batches.ts'
import { type WrittenChunks, writeChunks } from '../chunks.ts'
import { idTaken, requireSizeAtMost } from '../object-rules.ts'
import { ProviderError } from '../provider.ts'
import type { DocumentWrite } from './calls.ts'
import { hasStatus } from './errors.ts'
import { chunkName, findObject, type Store } from './store.ts'

/** A document may have 1 MiB, including its name. */
const CHUNK_BYTES = 900 * 1024
/** With more, each transfer would hold more memory; with fewer, each answer is waited for. */
export const CHUNKING = { chunkBytes: CHUNK_BYTES, atOnce: 4, leavesLast: true }
/** They must fit into the 10 MiB of one commit, in which deleted documents count too. */
const CHUNKS_PER_COMMIT = 8
const LISTED_AT_ONCE = 200

/** One write of one object. */
interface Write {
  id: string
  /** The name of the object's document. */
  name: string
  /** Part of the names of the object and its chunks. */
  write: string
  /** The largest number of chunks that may exist. */
  begun: number
}

interface Sizes {
  declaredSize: number | null
  maxBytes: number
}

export async function writeObject(store: Store, id: string, source: Readable, sizes: Sizes): Promise<number> {
  const batches = batchSource(source)
  try {
    requireSizeAtMost(sizes.maxBytes, sizes.declaredSize)
    // Otherwise it would be rejected at the end, when all its bytes have been paid for.
    const taken = await findObject(store, id)
    if (taken) throw idTaken()
    const write = { id, name: store.objectName(id), write: randomBytes(8).toString('hex'), begun: 0 }
    return await writeOnce(store, write, batches, sizes)
  } finally {
    batches.release()
  }
}

async function writeOnce(store: Store, write: Write, source: Batches, sizes: Sizes): Promise<number> {
  try {
    const written = await writeChunks(source, { ...CHUNKING, ...sizes }, (n, data) => {
      write.begun = n + 1
      return store.commit([chunkWrite(write, n, data)])
    })
    write.begun = written.count + 1
    await publish(store, write, written)
    return written.size
  } catch (error) {
    if (write.begun === 0) throw error
    const isDiscarded = await discard(store, write).then(
      () => true,
      () => false,
    )
    // The gateway forgets an object whose write was rejected, unless the provider is unavailable: then chunks may be
    // left.
    throw !isDiscarded && error instanceof ProviderError ? new ProviderError('unavailable', error) : error
  }
}

/** One commit writes the last chunk and the object, unless the id is taken or the write was removed meanwhile. */
async function publish(store: Store, write: Write, { size, count, last }: WrittenChunks): Promise<void> {
  const about = { write: { stringValue: write.write }, size: { integerValue: size } }
  const chunks = { chunks: { integerValue: count + (last ? 1 : 0) }, chunk_bytes: { integerValue: CHUNK_BYTES } }
  try {
    await store.commit([
      ...(count > 0 ? [requireChunk(write, 0)] : []),
      { update: { name: write.name, fields: { ...about, ...chunks } }, currentDocument: { exists: false } },
      ...(last ? [chunkWrite(write, count, last)] : []),
    ])
  } catch (error) {
    if (count > 0 && hasStatus(error, status.NOT_FOUND)) {
      throw new ProviderError('unavailable', new Error('the object was removed while it was written', { cause: error }))
    }
    if (!hasStatus(error, status.ALREADY_EXISTS)) throw error
    // The commit may have succeeded although its answer was lost: then the object is ours.
    const found = await findObject(store, write.id)
    if (found?.write !== write.write) throw idTaken(error)
  }
}

export function chunkWrite({ name, write }: Pick<Write, 'name' | 'write'>, n: number, data: Buffer): DocumentWrite {
  return { update: { name: chunkName(name, write, n), fields: { data: { bytesValue: data } } } }
}

/** Fails when the chunk is missing. It sets a field because a write must write something. */
export function requireChunk({ name, write }: Pick<Write, 'name' | 'write'>, n: number): DocumentWrite {
  const first = { name: chunkName(name, write, n), fields: { first: { integerValue: 1 } } }
  return { update: first, updateMask: { fieldPaths: ['first'] }, currentDocument: { exists: true } }
}

/** Removes everything of one write, including an object whose creation got no answer. */
async function discard(store: Store, { id, name, write, begun }: Write): Promise<void> {
  const found = await findObject(store, id)
  if (found?.write === write) await store.commit([{ delete: name }])
  await removeChunks(store, name, write, begun)
}

/** The object is removed first, so that no reader gets half of it. Remaining chunks go when it is removed again. */
export async function removeObject(store: Store, id: string): Promise<void> {
  const found = await findObject(store, id)
  if (found) {
    await store.commit([{ delete: found.name }])
    await removeChunks(store, found.name, found.write, found.chunks)
  }
  let left: string[]
  do {
    left = await store.listChunks(id, LISTED_AT_ONCE)
    await removeAll(store, left)
  } while (left.length === LISTED_AT_ONCE)
}

function removeChunks(store: Store, objectName: string, write: string, count: number): Promise<void> {
  return removeAll(
    store,
    Array.from({ length: count }, (_, n) => chunkName(objectName, write, n)),
  )
}

/** In order, because a running write detects its removal by the missing first chunk. */
export async function removeAll(store: Store, names: readonly string[]): Promise<void> {
  for (let at = 0; at < names.length; at += CHUNKS_PER_COMMIT) {
    await store.commit(names.slice(at, at + CHUNKS_PER_COMMIT).map((name) => ({ delete: name })))
  }
}
