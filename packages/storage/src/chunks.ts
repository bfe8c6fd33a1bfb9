// Writing a source as chunks of one size, for databases that store an object in several documents.

import { type Batches, lengthOf } from './batches.ts'
import { tooLarge, wrongSize } from './object-rules.ts'

interface ChunkOptions {
  chunkBytes: number
  /** The number of parallel writes. */
  atOnce: number
  declaredSize: number | null
  maxBytes?: number
  /** Writes the first chunk before any other starts, and leaves the last one to the caller. */
  leavesLast?: boolean
}

export interface WrittenChunks {
  size: number
  /** The number of written chunks. */
  count: number
  /** The last chunk when it is left to the caller; null when the source was empty. */
  last: Buffer | null
}

/** No write is running any more when it rejects. */
export async function writeChunks(
  source: Batches,
  options: ChunkOptions,
  writeChunk: (n: number, data: Buffer) => Promise<void>,
): Promise<WrittenChunks> {
  const { atOnce, leavesLast = false } = options
  const running: Promise<void>[] = []
  let size = 0
  let count = 0
  let last: Buffer | null = null

  async function begin(chunk: Buffer): Promise<void> {
    if (running.length === atOnce || (leavesLast && count === 1)) await running.shift()
    const writing = writeChunk(count++, chunk)
    writing.catch(() => {}) // awaited above or below
    running.push(writing)
  }

  try {
    for await (const chunk of cutIntoChunks(source, options)) {
      size += chunk.length
      if (!leavesLast) await begin(chunk)
      else if (last) await begin(last)
      if (leavesLast) last = chunk
    }
    await Promise.all(running)
    return { size, count, last }
  } finally {
    await Promise.allSettled(running)
  }
}

/** Copies the pieces: a body can be cut into single bytes, each with an object around it. */
async function* cutIntoChunks(
  source: Batches,
  { chunkBytes, declaredSize, maxBytes = Number.POSITIVE_INFINITY }: ChunkOptions,
): AsyncGenerator<Buffer> {
  const most = declaredSize ?? maxBytes
  let size = 0
  let chunk = Buffer.alloc(0)
  let filled = 0
  for (let pieces = await source.next(); pieces.length > 0; pieces = await source.next()) {
    if (size + lengthOf(pieces) > most) throw tooLarge()
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; ) {
        if (filled === 0) chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, most - size))
        const copied = piece.copy(chunk, filled, at)
        at += copied
        filled += copied
        size += copied
        if (filled < chunk.length) continue
        yield chunk
        filled = 0
      }
    }
  }
  if (declaredSize !== null && size !== declaredSize) throw wrongSize()
  if (filled > 0) yield chunk.subarray(0, filled)
}
