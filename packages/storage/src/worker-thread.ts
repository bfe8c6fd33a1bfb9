import { on } from 'node:events'
import { MessageChannel, type MessagePort, type Transferable, Worker } from 'node:worker_threads'
import { ProviderError } from './provider.ts'

/** One conversation with a thread. */
export interface Conversation<Answer> {
  port: MessagePort
  /** The next answer; rejects when the thread has ended. */
  next(): Promise<Answer>
}

/**
 * A thread that starts with the first conversation, and restarts after a failure. Its program receives the message that
 * `message` creates from the other end of the port.
 */
export function lazyThread<Answer>(program: URL) {
  let worker: Worker | null = null

  function start(): Worker {
    const started = new Worker(program)
    // Callers learn of it by their ports, which close.
    started.on('error', () => {})
    started.on('exit', () => {
      if (worker === started) worker = null
    })
    started.unref()
    return started
  }

  return (message: (theirs: MessagePort) => unknown): Conversation<Answer> => {
    worker ??= start()
    const { port1: port, port2: theirs } = new MessageChannel()
    const answers = on(port, 'message', { close: ['close'] })
    const transferred: readonly Transferable[] = [theirs]
    worker.postMessage(message(theirs), transferred)
    return {
      port,
      async next() {
        const { value, done } = await answers.next()
        if (done) throw new ProviderError('unavailable', 'a worker thread has ended')
        return value[0]
      },
    }
  }
}
