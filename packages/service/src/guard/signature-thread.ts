// Checks signatures in their own thread.

import { Worker } from 'node:worker_threads'
import type { Signed } from './signature-check.ts'

export interface Question {
  id: number
  signed: readonly Signed[]
}

export interface Answer {
  id: number
  verdicts: boolean[]
}

type AskThread = (signed: readonly Signed[]) => Promise<boolean[]>

interface Thread {
  worker: Worker
  pending: Map<number, PromiseWithResolvers<boolean[]>>
}

/** The thread starts with the first question, and restarts after a failure. */
export function createSignatureThread(): AskThread {
  let thread: Thread | null = null
  let lastId = 0

  function start(): Thread {
    const started: Thread = {
      worker: new Worker(new URL('./signature-worker.ts', import.meta.url)),
      pending: new Map(),
    }
    const { worker, pending } = started
    worker.on('message', ({ id, verdicts }: Answer) => {
      pending.get(id)?.resolve(verdicts)
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

  return (signed) => {
    thread ??= start()
    const { worker, pending } = thread
    const id = ++lastId
    const answer = Promise.withResolvers<boolean[]>()
    pending.set(id, answer)
    worker.ref()
    worker.postMessage({ id, signed } satisfies Question)
    return answer.promise
  }
}
