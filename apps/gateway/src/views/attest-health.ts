import type { AnchorError } from '@svc/api/attestations'
import type { AnchorCosts, AttestHealth } from '@svc/api/internal-attestations'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../context.ts'
import { countByStatus } from '../evidence/store.ts'
import { countUnpublished, nextAnchorError } from './store.ts'

export async function attestHealth(context: Context): Promise<AttestHealth> {
  const anchors = await anchorCosts(context)
  return {
    ...(await attestationCounts(context)),
    ...(anchors && { anchors }),
    time: isoSeconds(unixNow(context)),
  }
}

/** A record without a status is from before that field existed and is published; it counts as complete (STATE-14). */
export async function attestationCounts(
  context: Pick<Context, 'database' | 'now'>,
): Promise<Omit<AttestHealth, 'anchors' | 'time'>> {
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
    oldest_nonfinal_age_sec: oldest === null ? null : Math.max(0, unixNow(context) - oldest),
    nonfinal_unknown_age: unknown,
  }
}

async function anchorCosts(context: Context): Promise<AnchorCosts | null> {
  const { primaryChain, publishingCosts, database } = context
  if (!primaryChain) return null
  const [totals, balance, { failed }, error] = await Promise.all([
    publishingCosts.totals(),
    publishingCosts.balance(),
    countUnpublished(database.db),
    nextAnchorError(database.db),
  ])
  if (!totals) return null
  const { byState, feeLamports, rentLamports } = totals
  return {
    published: byState.landed + byState.finalized,
    failed: byState.failed,
    expired: byState.expired,
    fee_lamports_total: feeLamports,
    rent_lamports_total: rentLamports,
    publication_key: primaryChain.signer,
    balance_lamports: 'lamports' in balance ? Number(balance.lamports) : null,
    low_balance: balance.state === 'low',
    ...(error && { retrying: { count: failed, last_error: (JSON.parse(error) as AnchorError).error } }),
  }
}
