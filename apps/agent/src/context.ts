// What operations work with.

import type { Database } from '@svc/database/open'
import type { UseNonce } from '@svc/guard/nonces'
import type { RateLimiter } from '@svc/guard/rate-limiter'
import type { FindSigner } from '@svc/guard/signers'
import type { Log } from '@svc/http-service/log'
import type { Ed25519Signer } from '@svc/protocol/keys'
import type { Queue } from '@svc/queue/queue'
import type { Sales } from '@svc/sales/sales'
import type { Config } from './config.ts'
import type { Schema } from './db/schema.ts'
import type { DelegationKeys } from './delegations/delegation-keys.ts'
import type { GatewayLink } from './gateway/gateway-link.ts'
import type { JobPayloads } from './work/job-payloads.ts'
import type { PostWebhook } from './work/post-webhook.ts'
import type { InTurn } from './work/subscriber-slots.ts'

export interface Context {
  config: Config
  database: Database<Schema>
  /** Signs receipts and findings. */
  signer: Ed25519Signer
  /** The key and the webhook secret of each delegation. */
  delegationKeys: DelegationKeys
  sales: Sales
  gateway: GatewayLink
  findSigner: FindSigner
  useNonce: UseNonce
  rateLimiter: RateLimiter
  queue: Queue<JobPayloads>
  /** So that one subscriber does not take all workers. */
  inTurn: InTurn
  postWebhook: PostWebhook
  log: Log
  /** Unix milliseconds. */
  now: () => number
  randomBytes: (length: number) => Uint8Array
}

/** Unix seconds. */
export function unixNow({ now }: Pick<Context, 'now'>): number {
  return Math.floor(now() / 1000)
}

/** What tests replace; everything else is the real thing. */
export type Overrides = Partial<Pick<Context, 'now' | 'log' | 'postWebhook'>>
