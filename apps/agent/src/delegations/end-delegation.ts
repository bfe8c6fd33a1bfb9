import type { DelegationSummary } from '@svc/api/agent/delegations'
import { type Context, unixNow } from '../context.ts'
import { findSubscription } from '../subscriptions/store.ts'
import { delegationSummary } from './delegation-view.ts'
import { requireOwn } from './manage-delegations.ts'
import { closeDelegation } from './store.ts'

/** One that has ended already stays as it is. */
export async function endDelegation(
  context: Context,
  identity: string,
  delegationId: string,
): Promise<DelegationSummary> {
  const { db } = context.database
  await requireOwn(db, identity, delegationId)
  await closeDelegation(db, delegationId, { state: 'ended', at: unixNow(context) })
  const ended = await requireOwn(db, identity, delegationId)
  return delegationSummary(context, ended, await findSubscription(db, identity))
}
