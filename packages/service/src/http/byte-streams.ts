// Streams that can be read without allocating chunks. A chunk of a plain stream is garbage once it is used, and a fast
// transfer creates garbage faster than it is collected.

import type { Readable } from 'node:stream'

/** A stream whose chunks belong to the reader alone, such as a request's body. */
export interface OwnedChunks extends Readable {
  /** Frees the memory of chunks immediately. They must not be used afterwards. */
  free?(chunks: readonly Buffer[]): void
}

/** A stream that can be read into one buffer of the reader, again and again. */
export interface FileStream extends Readable {
  /** Reads the next bytes instead of the stream's next chunk; returns their number, 0 at the end. */
  readInto?(buffer: Buffer): Promise<number>
  /** The total number of bytes that `readInto` reads. */
  size?: number
}

/** A chunk that is a view of a larger buffer is left to the garbage collector. */
export function freeChunks(chunks: readonly Buffer[]): void {
  for (const { buffer, byteLength } of chunks) {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
  }
}
