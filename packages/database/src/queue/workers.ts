// Claims jobs and runs them: continuously once started, or all that are due in one `drain`.

import { setTimeout } from 'node:timers/promises'
import type { StateCount } from './engine.ts'
import type { Drained } from './queue.ts'
import { type JobHandler, type Runner, type Running, runJob } from './run-job.ts'

interface KindHandler extends JobHandler {
  concurrency: number
}

export interface Workers {
  add(kind: string, handler: KindHandler): void
  kinds(): string[]
  start(): Promise<void>
  stop(graceMs: number): Promise<void>
  drain(): Promise<Drained>
}

const POLL_MS = 1000

/** `beforePoll` runs before each poll for due jobs. */
export function createWorkers(runner: Runner, beforePoll: () => Promise<void>): Workers {
  const { engine, log, isPaused } = runner
  const handlers = new Map<string, KindHandler & { worker: Worker }>()
  const running = new Set<Running>()
  let timer: NodeJS.Timeout | undefined
  let polling: Promise<void> | undefined
  let isStopping = false

  async function begin(kind: string, handler: KindHandler, limit: number): Promise<Running[]> {
    const jobs = isStopping || isPaused() ? [] : await engine.claim(kind, limit)
    if (isStopping) {
      await Promise.all(jobs.map((job) => engine.release(job)))
      return []
    }
    const runs = jobs.map((job) => runJob(runner, job, handler))
    for (const run of runs) {
      running.add(run)
      void run.finished.then(() => running.delete(run))
    }
    return runs
  }

  async function tryToBegin(kind: string, handler: KindHandler, limit: number): Promise<Promise<unknown>[]> {
    try {
      return (await begin(kind, handler, limit)).map(({ finished }) => finished)
    } catch (error) {
      log.error({ kind, err: error }, 'no jobs could be claimed; the next poll retries')
      return []
    }
  }

  async function poll(): Promise<void> {
    try {
      if (!isPaused()) await beforePoll()
    } catch (error) {
      log.error({ err: error }, 'schedules could not be read; the next poll retries')
    }
    for (const { worker } of handlers.values()) worker.wake()
    polling = undefined
  }

  async function allEnded(): Promise<void> {
    await polling
    for (const { worker } of handlers.values()) await worker.settled()
    for (const { finished } of running) await finished
  }

  async function release(run: Running): Promise<void> {
    try {
      await run.release()
    } catch (error) {
      log.error({ err: error }, 'a job could not be released; its lease will expire')
    }
  }

  return {
    add(kind, handler) {
      if (handlers.has(kind)) throw new Error(`jobs of the kind ${kind} already have a handler`)
      const worker = createWorker(handler.concurrency, (limit) => tryToBegin(kind, handler, limit))
      handlers.set(kind, { ...handler, worker })
    },

    kinds: () => [...handlers.keys()],

    async start() {
      await engine.listen((kind) => handlers.get(kind)?.worker.wake())
      polling = poll()
      timer = setInterval(() => {
        polling ??= poll()
      }, POLL_MS).unref()
    },

    async stop(graceMs) {
      isStopping = true
      clearInterval(timer)
      await waitAtMost(graceMs, allEnded())
      await Promise.all(Array.from(running, release))
      await engine.close()
    },

    async drain() {
      const drained: Drained = { done: 0, failed: 0, dead: 0 }
      for (let isBusy = true; isBusy && !isStopping && !isPaused(); ) {
        isBusy = false
        await engine.expireLeases()
        await beforePoll()
        // One query for all kinds: most have no jobs.
        const present = new Set((await engine.counts()).filter(mayBeDue).map(({ kind }) => kind))
        for (const [kind, handler] of handlers) {
          if (!present.has(kind)) continue
          await begin(kind, handler, handler.concurrency)
          for (const outcome of await Promise.all(Array.from(running, ({ finished }) => finished))) {
            if (outcome !== 'lost') drained[outcome]++
            isBusy = true
          }
        }
      }
      return drained
    },
  }
}

/** The lease of a job that is running may have expired. */
function mayBeDue({ state }: StateCount): boolean {
  return state !== 'delayed'
}

async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController()
  await Promise.race([work, setTimeout(ms, undefined, { signal: ended.signal }).catch(() => {})])
  ended.abort()
}

interface Worker {
  /** Reports that there may be jobs. */
  wake(): void
  /** Resolves when the worker is not about to start any. */
  settled(): Promise<void>
}

/**
 * Runs up to `concurrency` jobs of one kind for as long as there are any. `begin` takes at most `limit` jobs and returns
 * one promise for each, which never rejects.
 */
function createWorker(concurrency: number, begin: (limit: number) => Promise<Promise<unknown>[]>): Worker {
  let running = 0
  let isWoken = false
  let beginning: Promise<void> | undefined

  async function beginWhileWoken(): Promise<void> {
    while (isWoken && running < concurrency) {
      isWoken = false
      const begun = await begin(concurrency - running)
      running += begun.length
      for (const job of begun) void job.then(ended)
    }
    beginning = undefined
  }

  function ended(): void {
    running--
    wake()
  }

  function wake(): void {
    isWoken = true
    if (running < concurrency) beginning ??= beginWhileWoken()
  }

  return { wake, settled: async () => beginning }
}
