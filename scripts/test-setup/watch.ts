import { Worker } from 'node:worker_threads'
import type { Watched } from './watch-thread.ts'

/** One thread for all test files of a process. */
const thread = new Worker(new URL('./watch-thread.ts', import.meta.url), { execArgv: [] })
thread.unref()

/** Watches this file instead of the previous one; null stops watching. */
export function watch(watched: Watched | null): void {
  thread.postMessage(watched)
}
