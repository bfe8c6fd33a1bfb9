import { hash } from 'node:crypto'
import type { Body } from '@svc/api/endpoint'
import type { Provider, Quote, requestStorage } from '@svc/api/purchases'
import { type Lru, lru } from '@svc/concurrency/caches'
import type { Answer, JsonText } from '@svc/http-service/answer'
import type { WireRequest } from '@svc/http-service/wire-request'
import { plainOfferText } from '@svc/payments/selling/payment-headers'
import type { Market } from '@svc/payments/selling/price-legs'
import { paymentRequired } from '@svc/payments/selling/quote'
import {
  fillTemplate,
  PLACEHOLDER,
  type QuoteTemplate,
  quoteTemplate,
  templateText,
} from '@svc/payments/selling/quote-template'
import { limitStranger } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { type Charges, challengesFor, quoteCharges, quoteIdOf } from './challenges.ts'
import { type IdempotencyKey, idempotencyKey, type KeyedOrder, quoteOnce } from './idempotency.ts'
import { chooseProvider, priceOrder } from './price-storage.ts'
import { newQuoteId, offerFacts, payRequestOf, quoteBody, quoteRow } from './quote.ts'
import { isRenewal, newRenewalRequest, requireForSale } from './quote-renewal.ts'
import { refuseSignedPayment } from './signed-payment.ts'
import { findReceiptOfRequest, insertPayRequest, type PayRequest, type StorableTemplate } from './store.ts'
import { createQuoteStore } from './store-quotes.ts'

type Order = Body<typeof requestStorage>
type QuoteAnswer = Answer<JsonText<Quote>>
export type RequestQuote = (order: Order, wire: WireRequest) => Promise<QuoteAnswer>

/** Under a known Idempotency-Key, the quote of that key. Every quote is stored before it is answered. */
export function createRequestQuote(context: Context): RequestQuote {
  const templateOf = createTemplates(context)
  const storeQuote = createQuoteStore(context)

  /** Kept in full: it may be asked for again, or is for one locker only. */
  async function newPayRequest(order: Order): Promise<PayRequest> {
    if (isRenewal(order)) return newRenewalRequest(context, order)
    const template = await templateOf(order)
    const id = newQuoteId(context)
    return payRequestOf({ ...template, ...id }, fillTemplate(template, id).body)
  }

  function answer(request: PayRequest, quote: Quote, wire: WireRequest): QuoteAnswer {
    const challenges = challengesFor(quoteCharges(context.config, quote), quoteIdOf(request), wire)
    return paymentRequired(request.quote, plainOfferText(quote), challenges)
  }

  async function requestOnce(order: Order, key: IdempotencyKey, wire: WireRequest): Promise<QuoteAnswer> {
    const request = await quoteOnce(context, {
      key,
      ...keyedFields(order),
      isUsed: async ({ pay_req_id }) => (await findReceiptOfRequest(context.database.db, pay_req_id)) !== null,
      make: () => newPayRequest(order),
    })
    const quote = JSON.parse(request.quote) as Quote
    if (isRenewal(order)) await requireForSale(context, quote)
    return answer(request, quote, wire)
  }

  return async (order, wire) => {
    await limitStranger(context, wire, null)
    await context.continuity.requireCurrent()
    refuseSignedPayment(context.config, order, wire)
    const key = idempotencyKey(wire)
    if (key !== null) return requestOnce(order, key, wire)
    if (isRenewal(order)) {
      const request = await newPayRequest(order)
      await context.database.commit((tx) => insertPayRequest(tx, request))
      return answer(request, JSON.parse(request.quote), wire)
    }
    const template = await templateOf(order)
    const id = newQuoteId(context)
    await storeQuote({ ...quoteRow({ ...template, ...id }), template: template.stored })
    const { body, header } = fillTemplate(template, id)
    return paymentRequired(body, header, challengesFor(template.charges, id, wire))
  }
}

function keyedFields(body: Order): Pick<KeyedOrder, 'order' | 'unknown'> {
  const { units, provider = null, pay_network = null, pay_asset = null, extends: renewed, ...unknown } = body
  return { order: [units, provider, pay_network, pay_asset, ...(renewed === undefined ? [] : [renewed])], unknown }
}

interface OrderTemplate extends QuoteTemplate {
  provider: Provider
  units: number
  stored: StorableTemplate
  charges: Charges
}

const MAX_TEMPLATES = 500

/** Templates are cached by order until a leg or a rate changes. */
function createTemplates(context: Context): (order: Order) => Promise<OrderTemplate> {
  const { config, sales } = context
  let cache: { market: Market; templates: Lru<string, OrderTemplate> } | null = null

  return async (order) => {
    const provider = await chooseProvider(context, order, 'body')
    const market = await sales.market()
    if (cache?.market !== market) cache = { market, templates: lru(MAX_TEMPLATES) }
    const { templates } = cache
    const { units } = order
    const key = JSON.stringify([provider, units, order.pay_network, order.pay_asset])
    const cached = templates.get(key)
    if (cached) return cached
    const facts = offerFacts(config, priceOrder(config, market, { ...order, provider }, 'body'))
    const quote = quoteBody({ ...facts, ...PLACEHOLDER })
    const pieces = quoteTemplate(quote)
    const text = templateText(pieces)
    const stored = { id: hash('sha256', text).slice(0, 32), text }
    const template = { ...pieces, provider, units, stored, charges: quoteCharges(config, quote) }
    templates.set(key, template)
    return template
  }
}
