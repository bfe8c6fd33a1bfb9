import { finished, type Readable } from 'node:stream'

/** Requests give chunks of 64 KiB at most; to write eight at a time takes a fifth less processor time than one by one. */
const BATCH_BYTES = 512 * 1024
/** Chunked requests can be cut into single bytes, each with an object around it: batches end here too. */
const BATCH_CHUNKS = 1024

export interface Gathering {
  /** The next chunks, empty at the end of the source. The source flows on meanwhile, up to one batch ahead. */
  take(): Promise<Buffer[]>
  /** Takes no more. The source stays paused and undestroyed: its owner may still want to answer through it. */
  release(): void
}

/** Listens from the first moment, since an error of a source to which nobody listens ends the process. */
export function gather(source: Readable): Gathering {
  let batch: Buffer[] = []
  let bytes = 0
  let outcome: { error?: Error } | null = null
  let wake = () => {}
  const isFull = () => bytes >= BATCH_BYTES || batch.length >= BATCH_CHUNKS

  // Its listeners stay for good, so that a late error of the source is nobody's end either.
  finished(source, { writable: false }, (error) => {
    outcome = error ? { error } : {}
    wake()
  })
  const keep = (chunk: Buffer) => {
    batch.push(chunk)
    bytes += chunk.length
    if (!isFull()) return
    source.pause()
    wake()
  }
  source.pause()
  source.on('data', keep)

  return {
    async take() {
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
    release() {
      source.off('data', keep)
      source.pause()
    },
  }
}
