import type { FileHandle } from 'node:fs/promises'
import type { Gathering } from '../batches.ts'
import { onDisk } from './errors.ts'

/**
 * What has come is written out while the rest comes, and never lags by more than twice this: the last sync is short,
 * and whoever sent a large object is not left waiting for an answer.
 */
const SYNC_EVERY_BYTES = 32 * 1024 * 1024

/** Writes all that comes to the file, durably; says how many bytes that were. */
export async function pour(source: Gathering, file: FileHandle, declaredSize: number | null): Promise<number> {
  let size = 0
  let syncedSize = 0
  let syncing = Promise.resolve()
  for (let chunks = await source.take(); chunks.length > 0; chunks = await source.take()) {
    size += chunks.reduce((sum, { length }) => sum + length, 0)
    if (declaredSize !== null && size > declaredSize) break
    await onDisk(writeAll(file, chunks))
    if (size - syncedSize < SYNC_EVERY_BYTES) continue
    await onDisk(syncing)
    syncedSize = size
    syncing = file.datasync()
    // Told once only, by whichever sync comes first: each is awaited above or below.
    syncing.catch(() => {})
  }
  if (declaredSize !== null && size !== declaredSize) throw new RangeError('the source is not of its declared size')
  await onDisk(syncing)
  await onDisk(file.sync())
  return size
}

/** A call may write a part without an error, as when the disk gets full: the next one tells. */
async function writeAll(file: FileHandle, chunks: Buffer[]): Promise<void> {
  let rest = chunks
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest)
    rest = after(bytesWritten, rest)
  }
}

function after(count: number, chunks: Buffer[]): Buffer[] {
  let left = count
  for (const [i, chunk] of chunks.entries()) {
    if (left < chunk.length) return [chunk.subarray(left), ...chunks.slice(i + 1)]
    left -= chunk.length
  }
  return []
}
