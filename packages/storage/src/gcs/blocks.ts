import { finished, type Readable } from 'node:stream'

/** The chunks of an upload are multiples of this, all but the last. */
export const BLOCK_BYTES = 256 * 1024
/** So much is taken from a fast source while a chunk is on its way, and makes the next chunk. */
const BLOCKS_AHEAD = 16

export interface Chunk {
  blocks: readonly Buffer[]
  /** The source has ended, and was of its declared size. */
  isLast: boolean
}

export interface Blocks {
  /**
   * All full blocks there are, at least so many, or what is left at the end; no more than a few of a slow source.
   * Those taken before are filled anew from then on.
   */
  take(atLeast: number): Promise<Chunk>
  /** Aborted with the error of the source as soon as there is one. */
  failure: AbortSignal
  /** Takes no more. The source stays paused and undestroyed: its owner may still want to answer through it. */
  release(): void
}

/**
 * Copies what comes, so that the smallest pieces cost no more than their bytes. A block is full when a byte has come
 * that is not in it, so that there is always something left for the last chunk.
 */
export function gatherBlocks(source: Readable, declaredSize: number | null, maxBytes: number): Blocks {
  const most = declaredSize ?? maxBytes
  const failing = new AbortController()
  let full: Buffer[] = []
  let taken: Buffer[] = []
  let spare: Buffer[] = []
  let block: Buffer = Buffer.alloc(0)
  let filled = 0
  let received = 0
  let hasEnded = false
  let wake = () => {}

  function fail(error: Error) {
    source.pause()
    failing.abort(error)
    wake()
  }

  function nextBlock() {
    if (filled > 0) full.push(block)
    block = spare.pop() ?? Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, most - received))
    filled = 0
  }

  const keep = (piece: Buffer) => {
    if (received + piece.length > most) return fail(new RangeError('the source is larger than it may be'))
    for (let at = 0; at < piece.length; ) {
      if (filled === block.length) nextBlock()
      const copied = piece.copy(block, filled, at)
      at += copied
      filled += copied
      received += copied
    }
    if (full.length >= BLOCKS_AHEAD) source.pause()
    wake()
  }

  // Its listeners stay for good: an error of a source to which nobody listens ends the process.
  finished(source, { writable: false }, (error) => {
    if (error) return fail(error)
    if (declaredSize !== null && received !== declaredSize) {
      return fail(new RangeError('the source is not of its declared size'))
    }
    hasEnded = true
    wake()
  })
  source.pause()
  source.on('data', keep)

  return {
    failure: failing.signal,
    async take(atLeast) {
      while (!failing.signal.aborted && !hasEnded && full.length < atLeast) {
        source.resume()
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      failing.signal.throwIfAborted()
      spare = taken
      taken = full
      full = []
      if (hasEnded) taken.push(block.subarray(0, filled))
      else source.resume()
      return { blocks: taken, isLast: hasEnded }
    },
    release() {
      source.off('data', keep)
      source.pause()
    },
  }
}
