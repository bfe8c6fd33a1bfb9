// Checks the signatures of EVM owners in its own thread, because one takes a millisecond of JavaScript. OpenSSL cannot
// do it: Node's interface hashes the message itself, and has no Keccak.

import { Worker } from 'node:worker_threads'

export interface Question {
  id: number
  /** In lower case. */
  address: string
  message: Uint8Array
  signature: string
}

export interface Answer {
  id: number
  isValid: boolean
}

type AskThread = (question: Omit<Question, 'id'>) => Promise<boolean>

interface Thread {
  worker: Worker
  pending: Map<number, PromiseWithResolvers<boolean>>
}

/** The thread starts with the first question, and restarts after a failure. */
export function createEip191Verifier(): AskThread {
  let thread: Thread | null = null
  let lastId = 0

  function start(): Thread {
    const started: Thread = { worker: new Worker(new URL('./eip191-worker.ts', import.meta.url)), pending: new Map() }
    const { worker, pending } = started
    worker.on('message', ({ id, isValid }: Answer) => {
      pending.get(id)?.resolve(isValid)
      pending.delete(id)
      // The process may exit while no caller waits for the thread.
      if (pending.size === 0) worker.unref()
    })
    const end = (cause: unknown) => {
      if (thread === started) thread = null
      for (const { reject } of pending.values()) reject(new Error('the thread for signatures has ended', { cause }))
      pending.clear()
    }
    worker.on('error', end).on('exit', end)
    return started
  }

  return (question) => {
    thread ??= start()
    const { worker, pending } = thread
    const id = ++lastId
    const answer = Promise.withResolvers<boolean>()
    pending.set(id, answer)
    worker.ref()
    worker.postMessage({ id, ...question } satisfies Question)
    return answer.promise
  }
}
