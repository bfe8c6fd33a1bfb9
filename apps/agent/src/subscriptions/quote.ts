import { SUBSCRIPTION_DAYS, type SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { LegChoice } from '@svc/payments/legs'
import { challengesFor, payeeOf, type QuoteCharges, quoteCharges } from '@svc/payments/selling/mpp/challenge'
import { priceOnLegs } from '@svc/payments/selling/price-legs'
import { quoteAnswer, quoteBody } from '@svc/payments/selling/quote'
import { quoteTexts } from '@svc/payments/selling/quote-template'
import { toHex } from '@svc/protocol/bytes'
import { HEADER_IDENTITY } from '@svc/protocol/names'
import type { Answer, JsonText } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { type Context, unixNow } from '../context.ts'
import { insertPayRequest } from './store.ts'

/** Stores the quote before returning it: it fixes the terms. Challenges are for requests that accept credentials. */
export async function answerQuote(
  context: Context,
  choice: LegChoice,
  challenged: WireRequest | null,
): Promise<Answer<JsonText<SubscriptionQuote>>> {
  const { config, gateway, sales, database, randomBytes } = context
  await gateway.requireOtherTreasuries()
  const { subscriptionUsd: totalUsd, quoteTtlSeconds } = config.payments
  const legs = await priceOnLegs(sales, { totalUsd, units: 1, choice, from: 'query' })
  const { baseUrl } = config.http
  const createdAt = unixNow(context)
  const payReqId = `pr_${toHex(randomBytes(16))}`
  const expiresAt = createdAt + quoteTtlSeconds
  const quote = quoteBody({
    payReqId,
    expiresAt,
    isDevelopment: config.mode === 'development',
    legs,
    url: `${baseUrl}/v1/service/request`,
    description: `${SUBSCRIPTION_DAYS} days of the agent service`,
    confirmUrl: confirmUrlOf(config.http),
    confirmHeaders: [`${HEADER_IDENTITY}: <address that paid>`],
    lastStep: 'Hand a locker to the agent with POST /v1/delegate.',
    x402Url: null,
    terms: { subscription_days: SUBSCRIPTION_DAYS } as const,
    priceSummary: { total_usd: Number(totalUsd), subscription_days: SUBSCRIPTION_DAYS } as const,
  })
  const text = JSON.stringify(quote)
  await database.commit((tx) =>
    insertPayRequest(tx, {
      pay_req_id: payReqId,
      created_at: createdAt,
      expires_at: expiresAt,
      quote: text,
    }),
  )
  const charges = subscriptionCharges(config, quote.accepts)
  const challenges = challenged && challengesFor(charges, quoteTexts({ payReqId, expiresAt }), challenged)
  return quoteAnswer<SubscriptionQuote>(text, quote, challenges)
}

/** This service does not send transfers that were only signed. */
export function subscriptionCharges(config: Context['config'], accepts: SubscriptionQuote['accepts']): QuoteCharges {
  return quoteCharges(accepts, payeeOf(config, false))
}

export function confirmUrlOf({ baseUrl }: { baseUrl: string }): string {
  return `${baseUrl}/v1/service/confirm`
}
