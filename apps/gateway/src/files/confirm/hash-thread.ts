// SHA-256 in a thread of its own: a file of gigabytes would else take as much of the gateway's thread as all requests.

import { on } from 'node:events'
import { MessageChannel, Worker } from 'node:worker_threads'

export interface HashThread {
  /** Several may be under way. */
  begin(): ThreadHash
}

export interface ThreadHash {
  /** Gives the piece away: it is empty afterwards. Waits while others wait to be hashed. */
  take(piece: Uint8Array): Promise<void>
  /** Hex. */
  end(): Promise<string>
  /** Also of one that is given up. */
  close(): void
}

const MAX_WAITING = 4

/** The thread begins with the first hash, and anew should it ever fail. */
export function createHashThread(): HashThread {
  let worker: Worker | null = null
  let failure: unknown

  function start(): Worker {
    const started = new Worker(new URL('./hash-worker.ts', import.meta.url))
    // Whoever waits for it learns of it by their port, which closes.
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
        if (done) throw new Error('the thread that hashes has ended', { cause: failure })
        return value[0]
      }

      return {
        async take(piece) {
          if (waiting === MAX_WAITING) await answer()
          else waiting++
          // A part of a larger buffer may be one of many that others hold.
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
