// The interface of the delegations module: lockers delegated to the agent, and the registration of their keys.

import type { DelegateAnswer, Delegation, DelegationList, DelegationSummary } from '@svc/api/agent/delegations'
import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { JobRun } from '@svc/database/queue/queue'
import type { Answer, JsonText } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Callers } from '../callers/callers.ts'
import { type Context, unixNow } from '../context.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import { checkRegistration, runRegistrationCheck } from './check-registration.ts'
import { type DelegateBody, delegateLocker } from './delegate.ts'
import { endDelegation, listDelegations, readDelegation } from './manage-delegations.ts'
import { closeDelegation } from './store.ts'

export interface Delegations {
  /** Returns a quote when the owner has no active subscription. */
  delegate(body: DelegateBody, wire: WireRequest): Promise<DelegateAnswer | Answer<JsonText<SubscriptionQuote>>>
  list(identity: string): Promise<DelegationList>
  /** Includes the findings after this sequence. */
  read(identity: string, delegationId: string, after: number): Promise<Delegation>
  end(identity: string, delegationId: string): Promise<DelegationSummary>
  /** Rejects when the gateway does not report whether the key is registered. */
  checkRegistration(delegationId: string): Promise<void>
  /** Runs `checkRegistration` as a job. */
  runCheck(delegationId: string, job: JobRun): Promise<void>
  /** The owner has removed the key from the locker. This ends the delegation, even if the key is registered again. */
  revoke(delegationId: string): Promise<void>
}

interface Needs {
  callers: Callers
  subscriptions: Subscriptions
}

export function createDelegations(context: Context, needs: Needs): Delegations {
  const { subscriptions } = needs
  const revoke = (delegationId: string) =>
    context.database.commit((tx) => closeDelegation(tx, delegationId, { state: 'revoked', at: unixNow(context) }))
  return {
    delegate: (body, wire) => delegateLocker(context, needs, body, wire),
    list: (identity) => listDelegations(context, subscriptions, identity),
    read: (...args) => readDelegation(context, subscriptions, ...args),
    end: (...args) => endDelegation(context, subscriptions, ...args),
    checkRegistration: (delegationId) => checkRegistration(context, { subscriptions, revoke }, delegationId),
    runCheck: (...args) => runRegistrationCheck(context, { subscriptions, revoke }, ...args),
    revoke,
  }
}
