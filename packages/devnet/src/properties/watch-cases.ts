import { Worker } from 'node:worker_threads'
import { openCaseBox } from './case-box.ts'

const box = openCaseBox()
let worker: Worker | undefined

interface Watched {
  begin(input: Uint8Array): void
  end(): void
}

/** Ends the process and prints the input when a case never ends or takes too much memory. */
export function watchCases(hangsMs = 60_000): Watched {
  worker ??= new Worker(new URL('./watch-cases-thread.ts', import.meta.url), {
    workerData: { memory: box.memory, hangsMs },
    execArgv: [],
  })
  worker.unref()
  return { begin: box.write, end: box.clear }
}
