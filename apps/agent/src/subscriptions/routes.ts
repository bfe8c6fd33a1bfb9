import { confirmSubscription, requestSubscription } from '@svc/api/agent/subscriptions'
import { serve } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Subscriptions } from './subscriptions.ts'

export function subscriptionRoutes(service: Service, subscriptions: Subscriptions): void {
  serve(service, requestSubscription, ({ query, wire }) => subscriptions.request(query, wire))
  serve(service, confirmSubscription, ({ body, wire }) => subscriptions.confirm(body, wire))
}
