import type { Context } from '../context.ts'
import type { AttestationCounts } from './metrics/database.ts'
import { createMetrics, type Metrics } from './metrics/metrics.ts'
import { createPublishingCosts, type PublicationKey, type PublishingCosts } from './publishing-costs.ts'
import { createKeysAt, type KeysAt } from './signing-keys.ts'
import { createStats, type ReadStats } from './stats.ts'

interface Needs {
  /** Null where the gateway publishes nothing. */
  publisher: PublicationKey | null
  countAttestations: () => Promise<AttestationCounts>
}

export interface InfoContext extends Context {
  keysAt: KeysAt
  publishingCosts: PublishingCosts
  metrics: Metrics
  stats: ReadStats
}

export function createInfo(context: Context, { publisher, countAttestations }: Needs): InfoContext {
  const publishingCosts = createPublishingCosts({ ...context, publisher })
  return {
    ...context,
    keysAt: createKeysAt(context),
    publishingCosts,
    metrics: createMetrics({ ...context, publishingCosts }, countAttestations),
    stats: createStats(context),
  }
}
