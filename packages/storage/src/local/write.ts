import { type FileHandle, link, open, rm, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { type Batches, batchSource, lengthOf } from '../batches.ts'
import { idTaken, wrongSize } from '../object-rules.ts'
import { codeOf, onDisk } from './errors.ts'
import { type Folders, syncFolder } from './folders.ts'

/**
 * Bytes are synced while the rest comes, and the sync never lags by more than twice this: the last one is short, and the
 * client of a large upload does not wait long for its answer.
 */
const SYNC_EVERY_BYTES = 32 * 1024 * 1024

/** An object is complete and durable under its own name, or it is not there. */
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
    const file = await onDisk(rejectExisting(open(incoming, 'wx', 0o600)))
    try {
      const size = await fill(file, batches, declaredSize)
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

async function fill(file: FileHandle, batches: Batches, declaredSize: number | null): Promise<number> {
  try {
    return await writeStream(batches, file, declaredSize)
  } finally {
    await onDisk(file.close())
  }
}

/** Writes the source to the file, durably and from `start` on; returns its size. */
export async function writeStream(
  source: Batches,
  file: FileHandle,
  declaredSize: number | null,
  start = 0,
): Promise<number> {
  let size = 0
  let syncedSize = 0
  let syncing = Promise.resolve()
  for (let chunks = await source.take(); chunks.length > 0; chunks = await source.take()) {
    const position = start + size
    size += lengthOf(chunks)
    if (declaredSize !== null && size > declaredSize) break
    await onDisk(writeAll(file, chunks, position))
    source.free(chunks)
    if (size - syncedSize < SYNC_EVERY_BYTES) continue
    await onDisk(syncing)
    syncedSize = size
    syncing = file.datasync()
    syncing.catch(() => {}) // awaited above or below
  }
  if (declaredSize !== null && size !== declaredSize) throw wrongSize()
  await onDisk(syncing)
  await onDisk(file.sync())
  return size
}

/** A call may write only a part without an error, as when the disk gets full: the next call fails then. */
async function writeAll(file: FileHandle, chunks: Buffer[], start: number): Promise<void> {
  let rest = chunks
  let position = start
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest, position)
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

/** A link and not a rename, since a rename would replace an existing object. */
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

/** The first failure matters more than one of this. */
async function discard(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => {})
}
