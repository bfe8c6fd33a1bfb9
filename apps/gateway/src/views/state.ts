import type { Context } from '../context.ts'
import { createChainFollower, type FollowChain } from './admin/audit.ts'
import { createTotals, type Totals } from './admin/growth.ts'
import { createMetrics, type Metrics } from './metrics/metrics.ts'
import { createPublishingCosts, type PublishingCosts } from './publishing-costs.ts'
import { createStats, type ReadStats } from './stats.ts'

interface ViewsState {
  publishingCosts: PublishingCosts
  metrics: Metrics
  stats: ReadStats
  /** Business totals for the admin, counted at intervals rather than for each request. */
  totals: () => Promise<Totals>
  followChain: FollowChain
}

declare module '../context.ts' {
  interface Context extends ViewsState {}
}

export function openViews(context: Context): ViewsState {
  return {
    publishingCosts: createPublishingCosts(context),
    metrics: createMetrics(context),
    stats: createStats(context),
    totals: createTotals(context),
    followChain: createChainFollower(context),
  }
}
