// Checks the existence of files in a separate thread, where each takes a fifth of an asynchronous call.

import type { MessagePort } from 'node:worker_threads'
import { ProviderError } from '../provider.ts'
import { lazyThread } from '../worker-thread.ts'

/** The paths, and the port for the answer. */
export type LstatQuestion = [paths: readonly string[], port: MessagePort]
/** 1 for each path that is a file, 0 for each that is missing; or an error. */
export type LstatAnswer = Uint8Array | { error: string }

export function lstatThread(): (paths: readonly string[]) => Promise<Uint8Array> {
  const ask = lazyThread<LstatAnswer>(new URL('./lstat-worker.ts', import.meta.url))
  return async (paths) => {
    const { port, next } = ask((theirs) => [paths, theirs] satisfies LstatQuestion)
    try {
      const answer = await next()
      if ('error' in answer) throw new ProviderError('unavailable', answer.error)
      return answer
    } finally {
      port.close()
    }
  }
}
