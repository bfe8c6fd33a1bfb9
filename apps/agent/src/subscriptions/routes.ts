import { confirmSubscription, requestSubscription } from '@svc/api/agent/subscriptions'
import { serve } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { limitStranger } from '../callers/limits.ts'
import type { Context } from '../context.ts'
import { confirmPayment } from './confirm-payment.ts'
import { answerQuote } from './quote.ts'

export function subscriptionRoutes(service: Service, context: Context): void {
  serve(service, requestSubscription, async ({ query, wire }) => {
    await limitStranger(context, wire)
    return answerQuote(context, query)
  })
  serve(service, confirmSubscription, ({ body, wire }) => confirmPayment(context, body, wire))
}
