// The tools that operations work with. The operations themselves are wired in agent.ts.

import type { Database } from '@svc/database/open'
import type { Queue } from '@svc/database/queue/queue'
import type { Sales } from '@svc/payments/selling/sales'
import type { Ed25519Signer } from '@svc/protocol/keys'
import type { ClockGuard } from '@svc/service/guard/clock-guard'
import type { UseNonce } from '@svc/service/guard/nonces'
import type { RateLimiter } from '@svc/service/guard/rate-limiter'
import type { FindSigner } from '@svc/service/guard/signers'
import type { Resolve } from '@svc/service/outgoing/resolve'
import type { Log } from '@svc/service/program/log'
import type { Tracer } from '@svc/service/tracing/tracer'
import type { Config } from './config.ts'
import type { Schema } from './db/schema.ts'
import type { DelegationKeys } from './delegations/delegation-keys.ts'
import type { GatewayLink, WaitToRetry } from './gateway/gateway-link.ts'
import type { PostWebhook } from './work/findings/webhook-request.ts'
import type { WithSlot } from './work/subscriber-slots.ts'

export interface Context {
  config: Config
  database: Database<Schema>
  /** While the clock of this process differs from PostgreSQL's, nothing is sold or signed and no job begins (T-88). */
  clock: ClockGuard
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
  /** Prevents one subscriber from occupying all workers. */
  withSlot: WithSlot
  postWebhook: PostWebhook
  /** Resolves hosts that owners name. */
  resolve: Resolve
  log: Log
  tracer: Tracer | null
  /** Unix milliseconds. */
  now: () => number
  randomBytes: (length: number) => Uint8Array
}

/** The kinds of jobs, with the payload of each. The database stores these names with waiting jobs. */
export interface JobPayloads {
  'check-registration': { delegation_id: string }
  mirror: { delegation_id: string }
  watch: { delegation_id: string }
  tell: { delivery_id: string }
  'due-work': Record<string, never>
  'forget-nonces': Record<string, never>
  'forget-rate-limits': Record<string, never>
  'forget-old': Record<string, never>
}

/** Unix seconds. */
export function unixNow({ now }: Pick<Context, 'now'>): number {
  return Math.floor(now() / 1000)
}

/** The parts that tests replace; everything else is real. */
export interface Overrides extends Partial<Pick<Context, 'now' | 'log' | 'postWebhook' | 'resolve'>> {
  /** The pause before a request to the gateway is retried. */
  waitToRetry?: WaitToRetry
}
