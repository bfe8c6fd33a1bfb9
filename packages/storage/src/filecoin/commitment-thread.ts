// Piece commitments, in their own thread: a second of work for each 20 MiB would delay all requests.

import { lazyThread } from '../worker-thread.ts'

/** Some bytes, or null at their end. The thread answers each message with null, and the end with the multihash. */
export type CommitmentMessage = Uint8Array<ArrayBuffer> | null

/** The number of chunks that are sent to the thread in advance, so that it need not wait. */
const AHEAD = 2

/** The thread alternates between several commitments. */
export function commitmentThread(): (bytes: AsyncIterable<Uint8Array>) => Promise<Uint8Array> {
  const begin = lazyThread<CommitmentMessage>(new URL('./commitment-worker.ts', import.meta.url))
  return async (bytes) => {
    const { port, next } = begin((theirs) => theirs)
    let unanswered = 0
    try {
      for await (const chunk of bytes) {
        const copy = new Uint8Array(chunk) // of these bytes alone: otherwise their whole buffer would be transferred
        port.postMessage(copy, [copy.buffer])
        if (++unanswered > AHEAD) unanswered -= (await next()) === null ? 1 : 0
      }
      for (port.postMessage(null); unanswered > 0; unanswered--) await next()
      return (await next()) as Uint8Array // the last answer
    } finally {
      port.close()
    }
  }
}
