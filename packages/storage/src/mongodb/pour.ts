import type { Gathering } from '../batches.ts'

/**
 * Takes half the processor time of the usual 255 KiB both ways; larger ones gain nothing more, and each transfer would
 * hold more memory.
 */
export const CHUNK_BYTES = 1024 * 1024
/** So that the next chunk is on its way while the provider makes one durable. */
const AT_ONCE = 2

/** Keeps all that comes in chunks, the last of them shorter; says how many bytes that were. */
export async function pour(
  source: Gathering,
  declaredSize: number | null,
  keepChunk: (n: number, data: Buffer) => Promise<void>,
): Promise<number> {
  const underWay: Promise<void>[] = []
  let size = 0
  let count = 0
  try {
    for await (const chunk of chunksOf(source, declaredSize)) {
      if (underWay.length === AT_ONCE) await underWay.shift()
      const kept = keepChunk(count++, chunk)
      // Told once only: each is awaited above or below.
      kept.catch(() => {})
      underWay.push(kept)
      size += chunk.length
    }
    await Promise.all(underWay)
    return size
  } finally {
    // Nothing may still arrive when what has arrived is removed.
    await Promise.allSettled(underWay)
  }
}

/** Copies what comes: a body can be cut into single bytes, each with an object around it. */
async function* chunksOf(source: Gathering, declaredSize: number | null): AsyncGenerator<Buffer> {
  let size = 0
  let chunk = Buffer.alloc(0)
  let filled = 0
  let left = declaredSize ?? Number.POSITIVE_INFINITY
  for (let pieces = await source.take(); pieces.length > 0; pieces = await source.take()) {
    size += pieces.reduce((sum, { length }) => sum + length, 0)
    if (declaredSize !== null && size > declaredSize) break
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; ) {
        if (filled === 0) chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, left))
        const copied = piece.copy(chunk, filled, at)
        at += copied
        filled += copied
        if (filled < chunk.length) continue
        yield chunk
        left -= filled
        filled = 0
      }
    }
  }
  if (declaredSize !== null && size !== declaredSize) throw new RangeError('the source is not of its declared size')
  if (filled > 0) yield chunk.subarray(0, filled)
}
