import { link, rm, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { type Batches, batchSource, lengthOf } from '../batches.ts'
import { idTaken, wrongSize } from '../object-rules.ts'
import { closeFile, openFile, syncData, syncFile, writeBuffers } from './descriptors.ts'
import { codeOf, onDisk } from './errors.ts'
import { type Folders, syncFolder } from './folders.ts'

/**
 * Bytes are synced while the rest arrives, and the sync never lags by more than twice this: the last sync is short, and
 * the client of a large upload does not wait long for its answer.
 */
const SYNC_EVERY_BYTES = 32 * 1024 * 1024

/** An object is complete and durable under its own name, or it does not exist. */
export async function writeObject(
  folders: Folders,
  id: string,
  source: Readable,
  declaredSize: number | null,
): Promise<number> {
  const incoming = folders.incomingPath(id)
  const object = folders.objectPath(id)
  const batches = batchSource(source)
  try {
    const file = await onDisk(rejectExisting(openFile(incoming, 'wx', 0o600)))
    try {
      const size = await writeStream(batches, file, declaredSize).finally(() => closeFile(file))
      await onDisk(publish(incoming, object))
      return size
    } catch (error) {
      await discard(incoming)
      throw error
    }
  } finally {
    batches.release()
  }
}

/** Writes the source to the file, durably and from `start` on; returns its size. */
export async function writeStream(
  source: Batches,
  file: number,
  declaredSize: number | null,
  start = 0,
): Promise<number> {
  let size = 0
  let syncedSize = 0
  let syncing = Promise.resolve()
  try {
    for (let chunks = await source.next(); chunks.length > 0; chunks = await source.next()) {
      const position = start + size
      size += lengthOf(chunks)
      if (declaredSize !== null && size > declaredSize) break
      await onDisk(writeAll(file, chunks, position))
      source.free(chunks)
      if (size - syncedSize < SYNC_EVERY_BYTES) continue
      await onDisk(syncing)
      syncedSize = size
      syncing = syncData(file)
      syncing.catch(() => {}) // awaited above or below
    }
    if (declaredSize !== null && size !== declaredSize) throw wrongSize()
    await onDisk(syncing)
  } finally {
    // The file is closed next, and its descriptor reused.
    await syncing.catch(() => {})
  }
  await onDisk(syncFile(file))
  return size
}

/** A call may write only a part without an error, as when the disk fills up: the next call then fails. */
async function writeAll(file: number, chunks: Buffer[], start: number): Promise<void> {
  let rest = chunks
  let position = start
  while (rest.length > 0) {
    const { bytesWritten } = await writeBuffers(file, rest, position)
    position += bytesWritten
    rest = skip(bytesWritten, rest)
  }
}

function skip(count: number, chunks: Buffer[]): Buffer[] {
  let left = count
  for (const [i, chunk] of chunks.entries()) {
    if (left < chunk.length) return [chunk.subarray(left), ...chunks.slice(i + 1)]
    left -= chunk.length
  }
  return []
}

/** A link instead of a rename, because a rename would replace an existing object. */
async function publish(incoming: string, object: string): Promise<void> {
  await rejectExisting(link(incoming, object))
  try {
    await syncFolder(dirname(object))
    await unlink(incoming)
  } catch (error) {
    await discard(object)
    throw error
  }
}

async function rejectExisting<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? idTaken(error) : error
  }
}

/** Never throws: the first failure matters more than a failure of this cleanup. */
async function discard(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => {})
}
