// Bytes that a locker has given up, by overwriting, deleting or ending an upload, and that the sweep has not removed yet:
// readers that began before have time to finish. They are in no file and not counted as used, so they have a limit of
// their own: as much again as was bought (T-168).

import { ServiceError } from '@svc/http-service/service-error'
import type { Context } from '../context.ts'
import type { Db, Locker } from '../db/schema.ts'
import { termsOf } from '../lockers/terms.ts'
import { releasedBytes } from './object-store.ts'

/** Refuses more bytes beyond it, where terms are enforced. `own`: what the caller's transaction has given up itself. */
export async function requireFewReleased(
  { config }: Pick<Context, 'config'>,
  db: Db,
  locker: Pick<Locker, 'locker_id' | 'terms'>,
  own = 0,
): Promise<void> {
  if (!config.lockers.enforcesTerms) return
  const bytes = (await releasedBytes(db, locker.locker_id)) - own
  if (bytes > termsOf(locker).storage_limit_bytes) throw tooMuchReleased()
}

/** How often the sweep runs. */
const RETRY_SECONDS = 300

export function tooMuchReleased(): ServiceError {
  const hint = `send it again in ${RETRY_SECONDS} s; bytes that were replaced are removed after a quarter of an hour`
  return new ServiceError('RATE_LIMITED', 'more bytes of this locker were replaced lately than it may hold', {
    hint,
    headers: { 'retry-after': `${RETRY_SECONDS}` },
    details: {
      layer: 'gateway',
      recovery_hint: hint,
      next_best_method: 'the same request',
      reason: 'released',
      retry_after_seconds: RETRY_SECONDS,
    },
  })
}
