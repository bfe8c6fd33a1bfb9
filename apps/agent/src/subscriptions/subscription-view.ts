import type { Subscription } from '@svc/api/agent/subscriptions'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../context.ts'
import type { SubscriptionRow } from '../db/schema.ts'

export function subscriptionView(context: Pick<Context, 'now'>, row: SubscriptionRow): Subscription {
  return {
    subscription_id: row.subscription_id,
    identity: row.identity,
    status: isActive(context, row) ? 'active' : 'expired',
    starts_at: isoSeconds(row.starts_at),
    expires_at: isoSeconds(row.expires_at),
  }
}

export function isActive(context: Pick<Context, 'now'>, { expires_at }: Pick<SubscriptionRow, 'expires_at'>): boolean {
  return unixNow(context) < expires_at
}
