// Logs that the gateway is retried: once when it starts and once when it is over, however many requests wait.

import type { Retry } from '@svc/sdk'
import type { Log } from '@svc/service/program/log'

interface RetryLog {
  /** A request is about to be retried. */
  onRetry(retry: Retry): void
  /** A request was answered. */
  onAnswer(status: number): void
}

/** At most this often, when good and bad answers alternate. */
const LOG_EVERY_MS = 60_000

const TOO_MANY_REQUESTS = 429

export function createRetryLog({ log, now }: { log: Log; now: () => number }): RetryLog {
  let since: number | null = null
  let loggedAt = Number.NEGATIVE_INFINITY
  return {
    onRetry({ error }) {
      if (since !== null || Math.abs(now() - loggedAt) < LOG_EVERY_MS) return
      since = loggedAt = now()
      log.warn({ err: error }, 'the gateway gives no good answer; it is asked again')
    },
    onAnswer(status) {
      if (since === null || status >= 500 || status === TOO_MANY_REQUESTS) return
      log.info({ waited_ms: now() - since }, 'the gateway answers again')
      since = null
    },
  }
}
