import type { AttestHealth } from '@svc/api/attestations'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../context.ts'
import { countByStatus } from './store.ts'

/** A record without a status is older than the field, and final (STATE-14). */
export async function attestHealth(context: Context): Promise<AttestHealth> {
  const now = unixNow(context)
  const counts = { pending: 0, computed: 0, pushing: 0, complete: 0 }
  let oldest: number | null = null
  let unknown = 0
  for (const { status, count, oldest_since, without_since } of await countByStatus(context.database.db)) {
    counts[status ?? 'complete'] += count
    if (status === 'complete' || status === null) continue
    unknown += without_since
    oldest = oldest_since === null ? oldest : Math.min(oldest ?? oldest_since, oldest_since)
  }
  return {
    counts,
    oldest_nonfinal_age_sec: oldest === null ? null : Math.max(0, now - oldest),
    nonfinal_unknown_age: unknown,
    time: isoSeconds(now),
  }
}
