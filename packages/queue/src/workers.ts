// Takes jobs and runs them: by themselves once started, or all that is due when told to.

import { setTimeout } from 'node:timers/promises'
import type { Drained } from './queue.ts'
import { type Runner, type Running, runJob, type Work } from './run-job.ts'

interface KindOfWork extends Work {
  concurrency: number
}

export interface Workers {
  add(kind: string, work: KindOfWork): void
  kinds(): string[]
  start(): Promise<void>
  stop(graceMs: number): Promise<void>
  drain(): Promise<Drained>
}

const POLL_MS = 1000

/** `lookAround` is done before jobs are taken by the clock. */
export function createWorkers(runner: Runner, lookAround: () => Promise<void>): Workers {
  const { engine, log } = runner
  const works = new Map<string, KindOfWork & { worker: Worker }>()
  const running = new Set<Running>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let isStopping = false

  async function begin(kind: string, work: KindOfWork, limit: number): Promise<Running[]> {
    const jobs = isStopping ? [] : await engine.take(kind, limit)
    if (isStopping) {
      await Promise.all(jobs.map((job) => engine.giveBack(job)))
      return []
    }
    const runs = jobs.map((job) => runJob(runner, job, work))
    for (const run of runs) {
      running.add(run)
      void run.finished.then(() => running.delete(run))
    }
    return runs
  }

  async function beginIfPossible(kind: string, work: KindOfWork, limit: number): Promise<Promise<unknown>[]> {
    try {
      return (await begin(kind, work, limit)).map(({ finished }) => finished)
    } catch (error) {
      log.error({ kind, err: error }, 'no jobs could be taken; it is tried again')
      return []
    }
  }

  async function poll(): Promise<void> {
    try {
      await lookAround()
    } catch (error) {
      log.error({ err: error }, 'schedules could not be read; it is tried again')
    }
    for (const { worker } of works.values()) worker.wake()
    looking = undefined
  }

  async function allEnded(): Promise<void> {
    await looking
    for (const { worker } of works.values()) await worker.settled()
    for (const { finished } of running) await finished
  }

  async function giveBack(run: Running): Promise<void> {
    try {
      await run.giveBack()
    } catch (error) {
      log.error({ err: error }, 'a job could not be given back; its lease ends by itself')
    }
  }

  return {
    add(kind, work) {
      if (works.has(kind)) throw new Error(`jobs of the kind ${kind} have a handler already`)
      const worker = createWorker(work.concurrency, (limit) => beginIfPossible(kind, work, limit))
      works.set(kind, { ...work, worker })
    },

    kinds: () => [...works.keys()],

    async start() {
      await engine.listen((kind) => works.get(kind)?.worker.wake())
      looking = poll()
      timer = setInterval(() => {
        looking ??= poll()
      }, POLL_MS).unref()
    },

    async stop(graceMs) {
      isStopping = true
      clearInterval(timer)
      await withinMs(graceMs, allEnded())
      await Promise.all(Array.from(running, giveBack))
      await engine.close()
    },

    async drain() {
      const drained: Drained = { done: 0, failed: 0, dead: 0 }
      for (let isBusy = true; isBusy && !isStopping; ) {
        isBusy = false
        await engine.expireLeases()
        await lookAround()
        for (const [kind, work] of works) {
          await begin(kind, work, work.concurrency)
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

async function withinMs(ms: number, done: Promise<unknown>): Promise<void> {
  const late = new AbortController()
  await Promise.race([done, setTimeout(ms, undefined, { signal: late.signal }).catch(() => {})])
  late.abort()
}

// Keeps as many jobs of one kind running as it may, for as long as there are any.

interface Worker {
  /** There may be jobs. */
  wake(): void
  /** Resolves when it is not about to begin any. */
  settled(): Promise<void>
}

/** `begin` takes at most so many jobs, and answers one promise for each, which never rejects. */
function createWorker(concurrency: number, begin: (limit: number) => Promise<Promise<unknown>[]>): Worker {
  let running = 0
  let isAsked = false
  let beginning: Promise<void> | undefined

  async function beginWhileAsked(): Promise<void> {
    while (isAsked && running < concurrency) {
      isAsked = false
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
    isAsked = true
    if (running < concurrency) beginning ??= beginWhileAsked()
  }

  return { wake, settled: async () => beginning }
}
