import type { SigningKeys } from '@svc/api/info'
import type { Context } from '../context.ts'
import { createKeysAt, type KeysAt } from '../keys/signing-keys.ts'
import type { Counts } from './metrics/database.ts'
import { createMetrics, type Metrics } from './metrics/metrics.ts'
import { createPublishingCosts, type PublicationKey, type PublishingCosts } from './publishing-costs.ts'
import { createStats, type ReadStats } from './stats.ts'

interface Needs extends Counts {
  logs: NonNullable<SigningKeys['logs']>
  /** What the operator should know about the transparency log. */
  logWarnings: () => string[]
  /** Null where the gateway publishes nothing. */
  publisher: PublicationKey | null
}

export interface InfoContext extends Context {
  keysAt: KeysAt
  publishingCosts: PublishingCosts
  metrics: Metrics
  stats: ReadStats
  logStanding: Counts['logStanding']
  logs: NonNullable<SigningKeys['logs']>
  logWarnings: () => string[]
}

export function createInfo(context: Context, { publisher, logs, logWarnings, ...counts }: Needs): InfoContext {
  const publishingCosts = createPublishingCosts({ ...context, publisher })
  return {
    ...context,
    keysAt: createKeysAt(context),
    publishingCosts,
    metrics: createMetrics({ ...context, publishingCosts }, counts),
    stats: createStats(context),
    logStanding: counts.logStanding,
    logs,
    logWarnings,
  }
}
