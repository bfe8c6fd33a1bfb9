// Logs when retries of requests to the gateway begin and end, however many requests wait.

import type { Retry } from '@svc/sdk'
import type { Log } from '@svc/service/program/log'

interface RetryLog {
  /** A request is about to be retried. */
  onRetry(retry: Retry): void
  /** A request got a response. */
  onAnswer(status: number): void
}

/** The shortest interval, for alternating successes and failures. */
const LOG_EVERY_MS = 60_000

const TOO_MANY_REQUESTS = 429

export function createRetryLog({ log, now }: { log: Log; now: () => number }): RetryLog {
  let since: number | null = null
  let loggedAt = Number.NEGATIVE_INFINITY
  return {
    onRetry({ error }) {
      if (since !== null || Math.abs(now() - loggedAt) < LOG_EVERY_MS) return
      since = loggedAt = now()
      log.warn({ err: error }, 'the gateway does not respond correctly; retrying')
    },
    onAnswer(status) {
      if (since === null || status >= 500 || status === TOO_MANY_REQUESTS) return
      log.info({ waited_ms: now() - since }, 'the gateway responds again')
      since = null
    },
  }
}
