import * as payment from '@svc/api/agent/payment'
import { confirmSubscription, requestSubscription } from '@svc/api/agent/subscriptions'
import { lru } from '@svc/concurrency/caches'
import {
  findPayment,
  type PageSeller,
  paymentOutcome,
  preparePayment,
  sendPayment,
} from '@svc/payments/selling/pay-from-page'
import { serve } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { Callers } from '../callers/callers.ts'
import type { Context } from '../context.ts'
import { subscriptionSeller } from './confirm-payment.ts'
import type { Subscriptions } from './subscriptions.ts'

/** The limit for quotes whose buyers wait for a payment by Solana Pay. */
const MAX_PASSED = 10_000

export function subscriptionRoutes(
  service: Service,
  context: Context,
  { subscriptions, callers }: { subscriptions: Subscriptions; callers: Callers },
): void {
  serve(service, requestSubscription, ({ query, wire }) => subscriptions.request(query, wire))
  serve(service, confirmSubscription, ({ body, wire }) => subscriptions.confirm(body, wire))
  const seller: PageSeller = { ...subscriptionSeller(context, callers), passed: lru(MAX_PASSED) }
  serve(service, payment.preparePayment, ({ body, wire }) => preparePayment(seller, body, wire))
  serve(service, payment.sendPayment, ({ body, wire }) => sendPayment(seller, body, wire))
  serve(service, payment.paymentOutcome, ({ body, wire }) => paymentOutcome(seller, body, wire))
  serve(service, payment.findPayment, ({ body, wire }) => findPayment(seller, body, wire))
}
