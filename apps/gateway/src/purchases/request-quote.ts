import type { Body } from '@svc/api/endpoint'
import type { Quote, requestStorage } from '@svc/api/purchases'
import type { Answer, JsonText } from '@svc/http-service/answer'
import type { WireRequest } from '@svc/http-service/wire-request'
import { paymentRequired, quoteAnswer } from '@svc/sales/quote'
import { fillTemplate } from '@svc/sales/quote-template'
import { limitStranger } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { idempotencyKey, quoteOnce } from './idempotency.ts'
import { newQuoteId, payRequestOf } from './quote.ts'
import { createQuoteForms } from './quote-forms.ts'
import { findReceiptOfRequest, type PayRequest } from './store.ts'

type Order = Body<typeof requestStorage>
type QuoteAnswer = Answer<JsonText<Quote>>
export type RequestQuote = (order: Order, wire: WireRequest) => Promise<QuoteAnswer>

/** A quote, new or, under a known Idempotency-Key, the one it had. Stored before it is answered: it fixes the terms. */
export function createRequestQuote(
  context: Context,
  storePayRequest: (request: PayRequest) => Promise<void>,
): RequestQuote {
  const formOf = createQuoteForms(context)

  async function newQuote(order: Order) {
    const form = await formOf(order)
    const id = newQuoteId(context)
    const { body, header } = fillTemplate(form, id)
    return { request: payRequestOf({ ...form, ...id }, body), header }
  }

  async function requestOnce(order: Order, key: string): Promise<QuoteAnswer> {
    const { quote } = await quoteOnce(context, {
      key,
      order: declared(order),
      isUsed: async ({ pay_req_id }) => (await findReceiptOfRequest(context.database.db, pay_req_id)) !== null,
      make: async () => (await newQuote(order)).request,
    })
    return quoteAnswer(quote, JSON.parse(quote))
  }

  return async (order, wire) => {
    await limitStranger(context, wire, null)
    const key = idempotencyKey(wire)
    if (key !== null) return requestOnce(order, key)
    const { request, header } = await newQuote(order)
    await storePayRequest(request)
    return paymentRequired(request.quote, header)
  }
}

/** One text for one order, whatever the order of its keys. */
function declared({ units, provider, pay_network, pay_asset }: Order): string {
  return JSON.stringify([units, provider ?? null, pay_network ?? null, pay_asset ?? null])
}
