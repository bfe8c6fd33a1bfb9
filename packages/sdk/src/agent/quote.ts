import { requestSubscription, SUBSCRIPTION_DAYS, type SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import { requireSound } from '../purchases/quote.ts'

/** What thirty days cost, and how to pay them. Costs nothing and binds to nothing. */
export async function quote(context: Context, signal?: AbortSignal): Promise<SubscriptionQuote> {
  const { body } = await call(context, requestSubscription, { signal })
  requireSound(body)
  if (body.extensions.svc.terms.subscription_days !== SUBSCRIPTION_DAYS)
    throw new UntrueAnswer('the quote is for something else than thirty days')
  return body
}
