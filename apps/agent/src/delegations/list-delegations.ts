import type { DelegationList } from '@svc/api/agent/delegations'
import type { Context } from '../context.ts'
import { findSubscription } from '../subscriptions/store.ts'
import { subscriptionView } from '../subscriptions/subscription-view.ts'
import { delegationSummary } from './delegation-view.ts'
import { delegationsOf } from './store.ts'

/** Beside all that have not ended: one could end any number. */
const ENDED_SHOWN = 50

export async function listDelegations(context: Context, identity: string): Promise<DelegationList> {
  const { db } = context.database
  const subscription = await findSubscription(db, identity)
  const rows = await delegationsOf(db, identity, context.config.delegations.maxPerIdentity + ENDED_SHOWN)
  return {
    subscription: subscription && subscriptionView(context, subscription),
    delegations: rows.map((row) => delegationSummary(context, row, subscription)),
  }
}
