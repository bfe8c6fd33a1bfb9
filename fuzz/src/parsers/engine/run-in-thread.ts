// Runs a parser in a thread of its own: a case that never ends, or takes all memory, ends the thread and not the run.

import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { FuzzOptions, FuzzResult } from '../../target.ts'
import { openCaseBox } from './case-box.ts'

const MAX_HEAP_MB = 512
/** Of processor time: another program may have the processor. */
const HANGS_MS = 60_000
/** One that waits for what never comes takes none. */
const WAITS_MS = 600_000

/** `module` exports `open`, which makes a `Parser`. */
export async function runInThread(module: string, options: FuzzOptions): Promise<FuzzResult> {
  const box = openCaseBox()
  const worker = new Worker(new URL('../programs/fuzz-parser.ts', import.meta.url), {
    workerData: { module, options, memory: box.memory },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  })
  const ended = Promise.withResolvers<FuzzResult | string>()
  worker.on('message', ended.resolve)
  worker.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') ended.resolve(`takes more than ${MAX_HEAP_MB} MB`)
    else ended.reject(error)
  })
  const watch = new AbortController()
  watchCases(box.count, watch.signal).then(
    () => ended.resolve('does not end'),
    () => {},
  )
  try {
    const result = await ended.promise
    if (typeof result !== 'string') return result
    return { cases: box.count(), findings: [{ problem: result, input: Buffer.from(box.read()).toString('base64') }] }
  } finally {
    watch.abort()
    await worker.terminate()
  }
}

/** Resolves when no new case has begun for too long. */
async function watchCases(count: () => number, signal: AbortSignal): Promise<void> {
  let [seen, since, usage] = [0, performance.now(), process.cpuUsage()]
  while (performance.now() - since < WAITS_MS && processorMs(usage) < HANGS_MS) {
    await sleep(1000, null, { signal })
    const now = count()
    // Loading the parser is no case.
    if (now !== seen || now === 0) [seen, since, usage] = [now, performance.now(), process.cpuUsage()]
  }
}

function processorMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}
