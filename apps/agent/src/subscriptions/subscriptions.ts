// The interface of the subscriptions module: quotes, confirmations, and subscriptions of identities.

import type { confirmSubscription, SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { Body } from '@svc/api/endpoint'
import type { LegChoice } from '@svc/payments/legs'
import type { Answer, JsonText } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Callers } from '../callers/callers.ts'
import type { Context } from '../context.ts'
import type { SubscriptionRow } from '../db/schema.ts'
import { confirmPayment } from './confirm-payment.ts'
import { payWithCredential } from './pay-with-credential.ts'
import { answerQuote } from './quote.ts'
import { findSubscription } from './store.ts'
import { isActive } from './subscription-view.ts'

export interface Subscriptions {
  /** A quote, after counting the caller's address, or the purchase of a payment credential. */
  request(
    choice: LegChoice,
    wire: WireRequest,
  ): Promise<Answer<JsonText<SubscriptionQuote>> | Answer<SubscriptionConfirmation>>
  confirm(body: Body<typeof confirmSubscription>, wire: WireRequest): Promise<SubscriptionConfirmation>
  quote(choice: LegChoice): Promise<Answer<JsonText<SubscriptionQuote>>>
  /** The newest subscription of an identity, active or expired. */
  find(identity: string): Promise<SubscriptionRow | null>
  /** Null when there is none or it has expired. */
  findActive(identity: string): Promise<SubscriptionRow | null>
}

export function createSubscriptions(context: Context, { callers }: { callers: Callers }): Subscriptions {
  const { db } = context.database
  const find = (identity: string) => findSubscription(db, identity)
  return {
    find,
    quote: (choice) => answerQuote(context, choice, null),
    async request(choice, wire) {
      await callers.limitAnonymous(wire)
      context.clock.assertRight()
      return (await payWithCredential(context, callers, wire)) ?? answerQuote(context, choice, wire)
    },
    async confirm(body, wire) {
      context.clock.assertRight()
      return confirmPayment(context, callers, body, wire)
    },
    async findActive(identity) {
      const subscription = await find(identity)
      return subscription && isActive(context, subscription) ? subscription : null
    },
  }
}
