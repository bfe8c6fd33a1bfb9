import { constants } from 'node:fs'
import { type FileHandle, lstat, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import type { FileStream } from '@svc/service/http/byte-streams'
import { requireRange } from '../object-rules.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import { nullIfMissing, onDisk } from './errors.ts'
import { lstatThread } from './lstat-thread.ts'

/** Larger chunks are no faster, and create more garbage. */
const CHUNK_BYTES = 256 * 1024
/** Up to this number, checking single files is faster than using the thread. */
const FEW = 100

/** Keeps the file open, so that it can be read to its end when the object is removed meanwhile. */
export async function readObject(path: string, range: ByteRange | undefined): Promise<FileStream | null> {
  const file = await onDisk(nullIfAbsent(path, open(path, constants.O_RDONLY | constants.O_NOFOLLOW)))
  if (!file) return null
  try {
    const size = sizeOf(await onDisk(file.stat()))
    if (range) requireRange(range, size)
    return streamOf(file, range ?? { start: 0, end: size - 1 })
  } catch (error) {
    await file.close()
    throw error
  }
}

export async function statObject(path: string): Promise<{ size: number } | null> {
  const found = await onDisk(nullIfAbsent(path, lstat(path)))
  return found && { size: sizeOf(found) }
}

/** The ids of missing objects. Many are looked up in a thread: one by one, a million would take a minute. */
export function createAbsenceFinder(objectPath: (id: string) => string) {
  const thread = lstatThread()
  return async (ids: readonly string[]): Promise<Set<string>> => {
    const isPresent =
      ids.length > FEW
        ? await thread(ids.map(objectPath))
        : await Promise.all(ids.map(async (id) => (await statObject(objectPath(id))) !== null))
    return new Set(ids.filter((_, i) => !isPresent[i]))
  }
}

/** When the folder is missing too, the disk is gone, and the status of the object is unknown. */
async function nullIfAbsent<Result>(path: string, work: Promise<Result>): Promise<Result | null> {
  const found = await nullIfMissing(work)
  if (found === null) await lstat(dirname(path))
  return found
}

function sizeOf(found: { isFile(): boolean; size: number }): number {
  if (!found.isFile()) throw new ProviderError('unavailable', 'an object is not a file')
  return found.size
}

/** Reads no more than a chunk ahead of its reader, and closes the file at the end or when it is destroyed. */
function streamOf(file: FileHandle, { start, end }: ByteRange): FileStream {
  let position = start

  async function readInto(buffer: Buffer): Promise<number> {
    const length = Math.min(buffer.length, end - position + 1)
    if (length === 0) return 0
    const { bytesRead } = await onDisk(file.read(buffer, 0, length, position))
    if (bytesRead === 0) throw new ProviderError('unavailable', 'an object has become shorter')
    position += bytesRead
    return bytesRead
  }

  async function nextChunk(): Promise<Buffer | null> {
    // No pool: the reader may keep the chunk.
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, end - position + 1))
    const length = await readInto(buffer)
    return length === 0 ? null : buffer.subarray(0, length)
  }

  const stream = new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      nextChunk().then(
        (chunk) => this.push(chunk),
        (error) => this.destroy(error),
      )
    },
    destroy(error, done) {
      file.close().then(() => done(error), done)
    },
  })
  return Object.assign(stream, { readInto, size: end - start + 1 })
}
