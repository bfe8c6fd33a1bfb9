// When a credential was last used, so that its owner can find unused ones. Recorded at most once an hour, outside the
// request.

import { lru } from '@svc/concurrency/caches'
import { type Context, unixNow } from '../context.ts'
import type { Tx } from '../db/schema.ts'

/** Call only for valid credentials: their holder, not someone who merely knows the id. */
export type RecordUse = (id: string) => void

/** Does nothing when a use after `before` is recorded. */
type WriteUse = (tx: Tx, id: string, now: number, before: number) => Promise<void>

const RECORD_INTERVAL_SECONDS = 3600
const CACHED = 10_000

/** `what` names the credential in the log. */
export function createUseRecorder(
  context: Pick<Context, 'database' | 'continuity' | 'log' | 'now'>,
  what: string,
  write: WriteUse,
): RecordUse {
  const { database, continuity, log } = context
  const recordedAt = lru<string, number>(CACHED)
  return (id) => {
    const now = unixNow(context)
    const before = now - RECORD_INTERVAL_SECONDS
    if ((recordedAt.get(id) ?? before) > before || continuity.status().state !== 'current') return
    recordedAt.set(id, now)
    database
      .commit((tx) => write(tx, id, now, before))
      .catch((error: unknown) => {
        log.warn({ err: error }, `cannot record the last use of ${what}`)
      })
  }
}
