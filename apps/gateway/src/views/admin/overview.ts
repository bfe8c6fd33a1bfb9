import { chainCheck, NETWORKS } from '@svc/api/networks'
import type { AdminOverview, PriceFeed } from '@svc/api/operations'
import type { PriceState } from '@svc/payments/prices/price-oracle'
import { toBase58, toHex } from '@svc/protocol/bytes'
import { isoSeconds, unixSeconds } from '@svc/protocol/evidence'
import { issuerKeyId } from '@svc/protocol/ids'
import { formatKey } from '@svc/protocol/transparency/note'
import { type Context, unixNow } from '../../context.ts'
import { endOf } from '../../keys/key-periods.ts'
import { allSigningKeys } from '../../keys/store.ts'
import { attestHealth } from '../attest-health.ts'
import { type BudgetState, budgetStates } from '../budget-states.ts'
import { checkHealth } from '../health.ts'
import { feedState } from '../price-feed.ts'

/** The business and its health at a glance. */
export async function readOverview(context: Context): Promise<AdminOverview> {
  const now = unixNow(context)
  const [totals, health, attestations, budgets, jobs, keys, prices] = await Promise.all([
    context.totals(),
    checkHealth(context).then(({ body }) => body),
    attestHealth(context),
    budgetStates(context),
    context.queue.counts(),
    readKeys(context, now),
    context.sales.prices(),
  ])
  const { lockers, frozen, taken_down, files, bytes, purchases, usdMicros, countedAt } = totals
  const { counts, oldest_nonfinal_age_sec, nonfinal_unknown_age, anchors = null } = attestations
  return {
    lockers,
    frozen,
    taken_down,
    files,
    bytes,
    purchases,
    price_usd_total: usdMicros / 1e6,
    counted_at: isoSeconds(countedAt),
    attestations: { counts, oldest_nonfinal_age_sec, nonfinal_unknown_age },
    anchors,
    budgets: budgets.map(adminBudget),
    jobs: { ...sumOfJobs(jobs), by_kind: jobs },
    providers: Object.entries(health.providers).map(([provider, state]) => ({ provider, healthy: state === 'ok' })),
    chains: NETWORKS.map((network) => ({ network: network.name, state: health.checks[chainCheck(network)] })),
    keys,
    price_feed: priceFeed(prices, now),
    warnings: health.warnings ?? [],
    time: isoSeconds(now),
  }
}

type OperatorKey = AdminOverview['keys'][number]
type Jobs = Awaited<ReturnType<Context['queue']['counts']>>

function sumOfJobs(jobs: Jobs) {
  const sum = { waiting: 0, delayed: 0, running: 0, dead: 0 }
  for (const counts of Object.values(jobs)) {
    sum.waiting += counts.waiting
    sum.delayed += counts.delayed
    sum.running += counts.running
    sum.dead += counts.dead
  }
  return sum
}

function adminBudget({ name, unit, perDay, used, transactions, isExhausted, resetsAt }: BudgetState) {
  return {
    name,
    unit,
    per_day: perDay,
    used,
    transactions,
    used_up: isExhausted,
    resets_at: isoSeconds(resetsAt),
  }
}

/** The gateway has a history of statement keys only. */
async function readKeys(
  { database, signers, logIdentity: { key: logKey } }: Context,
  now: number,
): Promise<OperatorKey[]> {
  const statement = (await allSigningKeys(database.db)).map((key): OperatorKey => {
    const validTo = endOf(key)
    return {
      use: 'statement',
      id: issuerKeyId(key.public_key_hex),
      status: key.revoked_since !== null ? 'revoked' : validTo === null ? 'active' : 'retired',
      valid_from: key.valid_from,
      valid_to: validTo,
      age_seconds: Math.max(0, now - (unixSeconds(key.valid_from) ?? now)),
    }
  })
  const ageless = { status: 'active' as const, valid_from: null, valid_to: null, age_seconds: null }
  return [
    ...statement,
    { use: 'publication', id: toBase58(signers.publication.publicKey), ...ageless },
    { use: 'short-url', id: toHex(signers.shortUrl.publicKey), ...ageless },
    { use: 'log', id: formatKey(logKey), ...ageless },
  ]
}

function priceFeed(prices: readonly PriceState[], now: number): PriceFeed {
  return {
    state: feedState(prices),
    prices: prices.map(({ symbol, state, usd, publishedAt }) => ({
      symbol,
      state,
      usd,
      as_of: publishedAt === null ? null : isoSeconds(publishedAt),
      age_seconds: publishedAt === null ? null : Math.max(0, now - publishedAt),
    })),
  }
}
