// That the gateway is waited for, said once when it begins and once when it is over, however many wait and try again.

import type { Log } from '@svc/http-service/log'
import type { Retry } from '@svc/sdk'

interface WaitNotes {
  /** A request is about to be made again. */
  onRetry(retry: Retry): void
  /** There was an answer to one. */
  onAnswer(status: number): void
}

/** Where good and bad answers come in turns, no more is said of it than this. */
const SAID_EVERY_MS = 60_000

const TOO_MANY_REQUESTS = 429

export function createWaitNotes({ log, now }: { log: Log; now: () => number }): WaitNotes {
  let since: number | null = null
  let saidAt = Number.NEGATIVE_INFINITY
  return {
    onRetry({ error }) {
      if (since !== null || Math.abs(now() - saidAt) < SAID_EVERY_MS) return
      since = saidAt = now()
      log.warn({ err: error }, 'the gateway gives no good answer; it is asked again')
    },
    onAnswer(status) {
      if (since === null || status >= 500 || status === TOO_MANY_REQUESTS) return
      log.info({ waited_ms: now() - since }, 'the gateway answers again')
      since = null
    },
  }
}
