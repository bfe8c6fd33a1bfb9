// Publishes the log at intervals while the gateway runs. Of several processes only one publishes at a time.

import { isDatabaseUnavailable } from '@svc/database/unavailable'
import type { Log } from '@svc/service/program/log'
import { ServiceError } from '@svc/service/service-error'
import type { Publish } from './publish.ts'

export interface LogWriter {
  start(): void
  /** Waits for a run in progress. */
  stop(): Promise<void>
  /** Why the last run failed; null if it succeeded. */
  problem(): string | null
}

export function createWriter(publish: Publish, { seconds, log }: { seconds: number; log: Log }): LogWriter {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | null = null
  let isStopped = true
  let problem: string | null = null

  async function run(): Promise<void> {
    try {
      while (!isStopped && (await publish()));
      problem = null
    } catch (error) {
      report(error)
    }
    running = null
    if (!isStopped) schedule()
  }

  /** Logs each cause once. An unavailable or lagging database is reported elsewhere. */
  function report(error: unknown): void {
    const { message } = error as Error
    const isKnown = message === problem || error instanceof ServiceError || isDatabaseUnavailable(error)
    if (!isKnown) log.error({ err: error }, 'the log cannot be published at the moment')
    problem = message
  }

  function schedule(): void {
    timer = setTimeout(() => {
      running = run()
    }, seconds * 1000)
    timer.unref()
  }

  return {
    start() {
      isStopped = false
      schedule()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
    problem: () => problem,
  }
}
