// Streams with a way past their chunks. A chunk of a plain stream is garbage once it is used, and a fast transfer makes
// garbage faster than it is collected.

import type { Readable } from 'node:stream'

/** Whose chunks belong to the reader alone, as those of a request's body. */
export interface OwnedChunks extends Readable {
  /** Gives the memory of chunks back at once. Nobody may use them afterwards. */
  free?(chunks: readonly Buffer[]): void
}

/** Whose bytes can be read into a buffer of the reader's, again and again into the same one. */
export interface FileStream extends Readable {
  /** Reads the next bytes instead of the stream's next chunk; returns how many, and 0 at the end. */
  readInto?(buffer: Buffer): Promise<number>
  /** How many bytes `readInto` reads in all. */
  size?: number
}

/** A chunk that is a view of a larger buffer is left to the garbage collector, with what else is there. */
export function freeChunks(chunks: readonly Buffer[]): void {
  for (const { buffer, byteLength } of chunks) {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
  }
}
