import type { Gathering } from '../batches.ts'

/** A document may have 1 MiB, its name and all. */
export const CHUNK_BYTES = 900 * 1024
/** More would hold more memory for each transfer; with fewer, one waits for every answer. */
const AT_ONCE = 4

export interface Poured {
  size: number
  /** How many chunks were kept, from the first on. */
  kept: number
  /** What is left for the last chunk; null when there was nothing at all. */
  last: Buffer | null
}

/**
 * Keeps all that comes in chunks, but for the last one. The first is kept before any other is begun. Nothing is under
 * way any more when it rejects.
 */
export async function pour(
  source: Gathering,
  { declaredSize, maxBytes }: { declaredSize: number | null; maxBytes: number },
  keepChunk: (n: number, data: Buffer) => Promise<void>,
): Promise<Poured> {
  const underWay: Promise<void>[] = []
  let size = 0
  let kept = 0
  let last: Buffer | null = null
  try {
    for await (const chunk of chunksOf(source, declaredSize, maxBytes)) {
      size += chunk.length
      if (last) {
        if (underWay.length === AT_ONCE || kept === 1) await underWay.shift()
        const keeping = keepChunk(kept++, last)
        // Told once only: each is awaited above or below.
        keeping.catch(() => {})
        underWay.push(keeping)
      }
      last = chunk
    }
    await Promise.all(underWay)
    return { size, kept, last }
  } finally {
    await Promise.allSettled(underWay)
  }
}

/** Copies what comes: a body can be cut into single bytes, each with an object around it. */
async function* chunksOf(source: Gathering, declaredSize: number | null, maxBytes: number): AsyncGenerator<Buffer> {
  const most = declaredSize ?? maxBytes
  let size = 0
  let chunk = Buffer.alloc(0)
  let filled = 0
  for (let pieces = await source.take(); pieces.length > 0; pieces = await source.take()) {
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    if (size + length > most) throw new RangeError('the source is larger than it may be')
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; ) {
        if (filled === 0) chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, most - size))
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
  if (declaredSize !== null && size !== declaredSize) throw new RangeError('the source is not of its declared size')
  if (filled > 0) yield chunk.subarray(0, filled)
}
