import type { Context } from '../context.ts'
import { createKeysAt, type KeysAt } from './keys-at.ts'
import type { AttestationCounts } from './metrics/database.ts'
import { createMetrics, type Metrics } from './metrics/metrics.ts'
import type { PublicationKey } from './publication-balance.ts'
import { createPublishingCosts, type PublishingCosts } from './publishing-costs.ts'

interface Needs {
  /** Null where nothing is published. */
  publisher: PublicationKey | null
  countAttestations: () => Promise<AttestationCounts>
}

export interface InfoContext extends Context {
  keysAt: KeysAt
  publishingCosts: PublishingCosts
  metrics: Metrics
}

export function createInfo(context: Context, { publisher, countAttestations }: Needs): InfoContext {
  const publishingCosts = createPublishingCosts({ ...context, publisher })
  return {
    ...context,
    keysAt: createKeysAt(context),
    publishingCosts,
    metrics: createMetrics({ ...context, publishingCosts }, countAttestations),
  }
}
