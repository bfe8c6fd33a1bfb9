import { Worker } from 'node:worker_threads'
import type { Watched } from './watch-thread.ts'

/** One for all test files of a process. */
const thread = new Worker(new URL('./watch-thread.ts', import.meta.url), { execArgv: [] })
thread.unref()

/** Watches this file instead of the one before; null stops. */
export function watch(watched: Watched | null): void {
  thread.postMessage(watched)
}
