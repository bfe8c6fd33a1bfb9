import { finished } from 'node:stream'
import type { OwnedChunks } from '@svc/service/http/byte-streams'

/** Requests deliver chunks of 64 KiB at most; writing eight together takes a fifth less processor time. */
const BATCH_BYTES = 512 * 1024
/** Chunked requests can be cut into single bytes, each with an object around it: this ends a batch too. */
const BATCH_CHUNKS = 1024

export interface Batches {
  /** The next chunks; empty at the end of the source. Reads at most one batch ahead. */
  next(): Promise<Buffer[]>
  /** Frees the memory of chunks immediately, if the source allows it. They must not be used afterwards. */
  free(chunks: readonly Buffer[]): void
  /** Stops reading. The source stays paused and undestroyed: its owner may still want to answer through it. */
  release(): void
}

/** Listens from the start, since an error of a source without listeners ends the process. */
export function batchSource(source: OwnedChunks): Batches {
  let batch: Buffer[] = []
  let bytes = 0
  let outcome: { error?: Error } | null = null
  let wake = () => {}
  const isFull = () => bytes >= BATCH_BYTES || batch.length >= BATCH_CHUNKS

  // The listeners stay, so that a late error of the source does not end the process either.
  finished(source, { writable: false }, (error) => {
    outcome = error ? { error } : {}
    wake()
  })
  const append = (chunk: Buffer) => {
    batch.push(chunk)
    bytes += chunk.length
    if (!isFull()) return
    source.pause()
    wake()
  }
  source.pause()
  source.on('data', append)

  return {
    async next() {
      while (!outcome && !isFull()) {
        source.resume()
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      if (outcome?.error) throw outcome.error
      const taken = batch
      batch = []
      bytes = 0
      source.resume()
      return taken
    },
    free: (chunks) => source.free?.(chunks),
    release() {
      source.off('data', append)
      source.pause()
    },
  }
}

export function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}
