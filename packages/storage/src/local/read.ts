import { constants } from 'node:fs'
import { type FileHandle, lstat, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { type ByteRange, ProviderError } from '../provider.ts'
import { requireRange } from '../range.ts'
import { nullIfMissing, onDisk } from './errors.ts'

/** Larger ones are no faster, and more memory lies about until it is collected. */
const CHUNK_BYTES = 256 * 1024

/** Holds the file open: that the object is removed meanwhile does not disturb it. */
export async function readObject(path: string, range: ByteRange | undefined): Promise<Readable | null> {
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

/** Where the folder is gone too the disk is, and nobody knows of the object. */
async function nullIfAbsent<T>(path: string, work: Promise<T>): Promise<T | null> {
  const found = await nullIfMissing(work)
  if (found === null) await lstat(dirname(path))
  return found
}

function sizeOf(found: { isFile(): boolean; size: number }): number {
  if (!found.isFile()) throw new ProviderError('unavailable', new Error('an object is not a file'))
  return found.size
}

/** Reads no more than a chunk ahead of who reads it, and closes the file at the end or when it is destroyed. */
function streamOf(file: FileHandle, { start, end }: ByteRange): Readable {
  let position = start

  async function nextChunk(): Promise<Buffer | null> {
    if (position > end) return null
    // No pool: whoever gets the chunk may keep it.
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, end - position + 1))
    const { bytesRead } = await onDisk(file.read(buffer, 0, buffer.length, position))
    if (bytesRead === 0) throw new ProviderError('unavailable', new Error('an object is shorter than it was'))
    position += bytesRead
    return buffer.subarray(0, bytesRead)
  }

  return new Readable({
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
}
