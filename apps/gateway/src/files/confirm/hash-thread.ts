// SHA-256 in a thread of its own. Hashing gigabytes in the main thread would delay all requests.

import { on } from 'node:events'
import { MessageChannel, Worker } from 'node:worker_threads'

export interface HashThread {
  /** Hashes may run concurrently. */
  begin(): ThreadHash
}

export interface ThreadHash {
  /** Transfers the piece to the thread: it is empty afterwards. Waits while too many pieces are queued. */
  take(piece: Uint8Array): Promise<void>
  /** Hex. */
  end(): Promise<string>
  /** Call it always, also for a hash that is abandoned. */
  close(): void
}

const MAX_WAITING = 4

/** The thread starts with the first hash, and again after a failure. */
export function createHashThread(): HashThread {
  let worker: Worker | null = null
  let failure: unknown

  function start(): Worker {
    const started = new Worker(new URL('./hash-worker.ts', import.meta.url))
    // Pending hashes fail when their port closes.
    started.on('error', (error) => {
      failure = error
    })
    started.on('exit', () => {
      if (worker === started) worker = null
    })
    started.unref()
    return started
  }

  return {
    begin() {
      worker ??= start()
      const { port1: port, port2: theirs } = new MessageChannel()
      const answers = on(port, 'message', { close: ['close'] })
      let waiting = 0
      worker.postMessage(theirs, [theirs])

      async function answer(): Promise<unknown> {
        const { value, done } = await answers.next()
        if (done) throw new Error('the hashing thread has ended', { cause: failure })
        return value[0]
      }

      return {
        async take(piece) {
          if (waiting === MAX_WAITING) await answer()
          else waiting++
          // Transferring a view would empty the whole buffer, which others may share.
          const whole = piece.byteLength === piece.buffer.byteLength ? piece : new Uint8Array(piece)
          port.postMessage(whole, [whole.buffer as ArrayBuffer])
        },
        async end() {
          port.postMessage(null)
          for (; waiting > 0; waiting--) await answer()
          return String(await answer())
        },
        close: () => port.close(),
      }
    },
  }
}
