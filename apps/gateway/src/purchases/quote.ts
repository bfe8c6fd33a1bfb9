// What a quote for storage fixes, its 402 body, and its row.

import type { Quote, Renewal, Terms } from '@svc/api/purchases'
import * as sales from '@svc/payments/selling/quote'
import { toHex } from '@svc/protocol/bytes'
import type { Config } from '../config.ts'
import { type Context, unixNow } from '../context.ts'
import type { PricedOrder } from './prices.ts'
import type { PayRequest } from './store.ts'

/** The same for everybody who orders the same at the same rates. */
interface OfferFacts extends PricedOrder {
  baseUrl: string
  /** Null while the x402 door is closed, and for what is not sold there. */
  x402Url: string | null
  isDevelopment: boolean
  /** For one unit. */
  terms: Terms
}

interface NewQuoteId extends sales.QuoteId {
  /** Unix seconds. */
  createdAt: number
}

type QuoteFacts = OfferFacts & NewQuoteId

export function newQuoteFacts(context: Context, priced: PricedOrder): QuoteFacts {
  return { ...offerFacts(context.config, priced), ...newQuoteId(context) }
}

export function offerFacts(config: Config, priced: PricedOrder): OfferFacts {
  const { baseUrl } = config.http
  const terms = config.payments.terms[priced.provider]
  return { ...priced, baseUrl, x402Url: x402UrlOf(config), isDevelopment: config.mode === 'development', terms }
}

/** Where stock x402 clients buy; null where this gateway sends no signed payments. */
export function x402UrlOf({ http, x402 }: Pick<Config, 'http' | 'x402'>): string | null {
  return x402.isOpen ? `${http.baseUrl}/v1/x402/storage` : null
}

export function confirmUrlOf({ baseUrl }: Pick<OfferFacts, 'baseUrl'>): string {
  return `${baseUrl}/v1/storage/confirm`
}

export function newQuoteId(context: Context): NewQuoteId {
  const createdAt = unixNow(context)
  const expiresAt = createdAt + context.config.payments.quoteTtlSeconds
  return { payReqId: `pr_${toHex(context.randomBytes(16))}`, createdAt, expiresAt }
}

export function quoteBody(facts: OfferFacts & sales.QuoteId & { renewal?: Renewal }): Quote {
  const { baseUrl, units, provider, renewal } = facts
  const body = sales.quoteBody({
    ...facts,
    url: `${baseUrl}/v1/storage/request`,
    description: `${units} unit${units === 1 ? '' : 's'} of storage at ${provider}${renewal ? ', for a locker that is there' : ''}`,
    confirmUrl: confirmUrlOf(facts),
    confirmHeaders: [],
    lastStep: renewal
      ? `The receipt proves the payment; ${renewal.locker_id} is open as before.`
      : 'Keep the receipt: it opens the locker.',
    terms: scaleTerms(facts.terms, units),
    priceSummary: {
      unit_price_usd: Number(facts.unitPriceUsd),
      units,
      total_usd: Number(facts.totalUsd),
      provider,
    },
  })
  return renewal ? { ...body, extensions: { svc: { ...body.extensions.svc, renewal } } } : body
}

/** Three units hold three times as much, for the same time. */
export function scaleTerms(terms: Terms, units: number): Terms {
  return {
    ...terms,
    storage_limit_bytes: terms.storage_limit_bytes * units,
    file_limit: terms.file_limit * units,
    egress_included_bytes: terms.egress_included_bytes * units,
    ...(terms.settled_limit_bytes !== undefined && { settled_limit_bytes: terms.settled_limit_bytes * units }),
  }
}

type QuoteRowFacts = Pick<QuoteFacts, 'provider' | 'units'> & NewQuoteId

/** `quote` is the whole 402 body: a confirmation is judged by it, whatever changes later. */
export function payRequestOf(facts: QuoteRowFacts, quote: string): PayRequest {
  return { ...quoteRow(facts), quote }
}

export function quoteRow({ payReqId, createdAt, expiresAt, provider, units }: QuoteRowFacts) {
  return { pay_req_id: payReqId, created_at: createdAt, expires_at: expiresAt, provider, units }
}
