// What a quote fixes, before it is put into words.

import type { Terms } from '@svc/api/purchases'
import { toHex } from '@svc/protocol/bytes'
import type { QuoteId } from '@svc/sales/quote'
import type { Config } from '../config.ts'
import { type Context, unixNow } from '../context.ts'
import type { PricedOrder } from './price-storage.ts'
import type { PayRequest } from './store.ts'

/** What is offered to whoever orders it. */
export interface OfferFacts extends PricedOrder {
  baseUrl: string
  isDevelopment: boolean
  /** For one unit. */
  terms: Terms
}

interface NewQuoteId extends QuoteId {
  /** Unix seconds. */
  createdAt: number
}

type QuoteFacts = OfferFacts & NewQuoteId

export function newQuoteFacts(context: Context, priced: PricedOrder): QuoteFacts {
  return { ...offerFacts(context.config, priced), ...newQuoteId(context) }
}

export function offerFacts({ http, mode, payments }: Config, priced: PricedOrder): OfferFacts {
  const { baseUrl } = http
  return { ...priced, baseUrl, isDevelopment: mode === 'development', terms: payments.terms[priced.provider] }
}

export function newQuoteId(context: Context): NewQuoteId {
  const createdAt = unixNow(context)
  const expiresAt = createdAt + context.config.payments.quoteTtlSeconds
  return { payReqId: `pr_${toHex(context.randomBytes(16))}`, createdAt, expiresAt }
}

/** The quote as it is kept: with the whole body of its 402. */
export function payRequestOf(facts: Pick<QuoteFacts, 'provider' | 'units'> & NewQuoteId, quote: string): PayRequest {
  return {
    pay_req_id: facts.payReqId,
    created_at: facts.createdAt,
    expires_at: facts.expiresAt,
    provider: facts.provider,
    units: facts.units,
    quote,
  }
}
