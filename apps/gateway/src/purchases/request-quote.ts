import type { Body } from '@svc/api/endpoint'
import type { Quote, requestStorage } from '@svc/api/purchases'
import type { Answer, JsonText } from '@svc/http-service/answer'
import type { WireRequest } from '@svc/http-service/wire-request'
import { quoteAnswer } from '@svc/sales/quote'
import { limitStranger } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { priceStorage } from './price-storage.ts'
import { quoteBody } from './quote-body.ts'
import { newQuoteFacts, payRequestOf } from './quote-facts.ts'
import { idempotencyKey, quoteOnce } from './quote-once.ts'
import { findReceiptOfRequest, type PayRequest } from './store.ts'

type Order = Body<typeof requestStorage>

type QuoteAnswer = Answer<JsonText<Quote>>

/** A quote, new or, under a known Idempotency-Key, the one it had. Stored before it is answered: it fixes the terms. */
export async function requestQuote(context: Context, order: Order, wire: WireRequest): Promise<QuoteAnswer> {
  await limitStranger(context, wire, null)
  const key = idempotencyKey(wire)
  if (key !== null) return requestOnce(context, order, key)
  const { request, quote } = await newPayRequest(context, order)
  await context.storePayRequest(request)
  return quoteAnswer(request.quote, quote)
}

async function requestOnce(context: Context, order: Order, key: string): Promise<QuoteAnswer> {
  const { quote } = await quoteOnce(context, {
    key,
    order: declared(order),
    isUsed: async ({ pay_req_id }) => (await findReceiptOfRequest(context.database.db, pay_req_id)) !== null,
    make: async () => (await newPayRequest(context, order)).request,
  })
  return quoteAnswer(quote, JSON.parse(quote))
}

/** One text for one order, whatever the order of its keys. */
function declared({ units, provider, pay_network, pay_asset }: Order): string {
  return JSON.stringify([units, provider ?? null, pay_network ?? null, pay_asset ?? null])
}

async function newPayRequest(context: Context, order: Order): Promise<{ request: PayRequest; quote: Quote }> {
  const facts = newQuoteFacts(context, await priceStorage(context, order, 'body'))
  const quote = quoteBody(facts)
  return { quote, request: payRequestOf(facts, quote) }
}
