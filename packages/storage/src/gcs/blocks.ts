import { finished, type Readable } from 'node:stream'
import { tooLarge, wrongSize } from '../object-rules.ts'

/** The chunks of an upload are multiples of this, except the last. */
export const BLOCK_BYTES = 256 * 1024
/** The number of blocks that are read from a fast source while a chunk is being sent; they form the next chunk. */
const BLOCKS_AHEAD = 16

export interface Chunk {
  blocks: readonly Buffer[]
  /** The source has ended, and had its declared size. */
  isLast: boolean
}

export interface Blocks {
  /**
   * All full blocks that are available, at least this many, or the rest at the end. The next call overwrites the blocks
   * of the previous one.
   */
  next(atLeast: number): Promise<Chunk>
  /** Aborted with the error of the source as soon as there is one. */
  failure: AbortSignal
  /** Stops reading. The source stays paused and undestroyed: its owner may still want to answer through it. */
  release(): void
}

/**
 * Copies the source into blocks, so that tiny pieces cost no more than their bytes. A block counts as full when a byte
 * beyond it has arrived, so that something is always left for the last chunk.
 */
export function readBlocks(source: Readable, declaredSize: number | null, maxBytes: number): Blocks {
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

  const append = (piece: Buffer) => {
    if (received + piece.length > most) return fail(tooLarge())
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

  // The listeners stay: an error of a source without listeners ends the process.
  finished(source, { writable: false }, (error) => {
    if (error) return fail(error)
    if (declaredSize !== null && received !== declaredSize) return fail(wrongSize())
    hasEnded = true
    wake()
  })
  source.pause()
  source.on('data', append)

  return {
    failure: failing.signal,
    async next(atLeast) {
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
      source.off('data', append)
      source.pause()
    },
  }
}
