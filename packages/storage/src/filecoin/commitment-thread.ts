// Piece commitments, in a thread of their own: a second of work for each 20 MiB would be felt by everybody.

import { on } from 'node:events'
import { MessageChannel, Worker } from 'node:worker_threads'
import { ProviderError } from '../provider.ts'

/** Some bytes, or null at their end. The thread answers each with null, and the end with the multihash. */
export type CommitmentMessage = Uint8Array<ArrayBuffer> | null

/** How many chunks are with the thread, so that it need not wait for the next. */
const AHEAD = 2

/** The thread begins with the first commitment, and anew should it ever fail. It computes several in turns. */
export function commitmentThread(): (bytes: AsyncIterable<Uint8Array>) => Promise<Uint8Array> {
  let worker: Worker | null = null

  function start(): Worker {
    const started = new Worker(new URL('./commitment-worker.ts', import.meta.url))
    // Whoever waits for it learns of it by their port, which closes.
    started.on('error', () => {})
    started.on('exit', () => {
      if (worker === started) worker = null
    })
    started.unref()
    return started
  }

  return async (bytes) => {
    worker ??= start()
    const { port1: port, port2: theirs } = new MessageChannel()
    const answers = on(port, 'message', { close: ['close'] })
    const answer = async (): Promise<CommitmentMessage> => {
      const { value, done } = await answers.next()
      if (done) throw new ProviderError('unavailable', new Error('the thread that computes commitments has ended'))
      return value[0]
    }
    worker.postMessage(theirs, [theirs])
    let waiting = 0
    try {
      for await (const chunk of bytes) {
        const copy = new Uint8Array(chunk) // of these bytes alone: all of the buffer they are in would go over
        port.postMessage(copy, [copy.buffer])
        if (++waiting > AHEAD) waiting -= (await answer()) === null ? 1 : 0
      }
      for (port.postMessage(null); waiting > 0; waiting--) await answer()
      return (await answer()) as Uint8Array // the last answer
    } finally {
      port.close()
    }
  }
}
