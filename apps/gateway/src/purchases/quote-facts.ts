// What a quote fixes, before it is put into words.

import type { Provider, Terms } from '@svc/api/purchases'
import { toHex } from '@svc/protocol/bytes'
import type { PricedLegs } from '@svc/sales/price-legs'
import { type Context, unixNow } from '../context.ts'
import type { PricedOrder } from './price-storage.ts'
import type { PayRequest } from './store.ts'

export interface QuoteFacts {
  payReqId: string
  baseUrl: string
  isDevelopment: boolean
  /** Unix seconds. */
  createdAt: number
  expiresAt: number
  provider: Provider
  units: number
  unitPriceUsd: string
  totalUsd: string
  /** For one unit. */
  terms: Terms
  legs: PricedLegs
}

export function newQuoteFacts(context: Context, priced: PricedOrder): QuoteFacts {
  const { http, mode, payments } = context.config
  const createdAt = unixNow(context)
  return {
    ...priced,
    payReqId: `pr_${toHex(context.randomBytes(16))}`,
    baseUrl: http.baseUrl,
    isDevelopment: mode === 'development',
    createdAt,
    expiresAt: createdAt + payments.quoteTtlSeconds,
    terms: payments.terms[priced.provider],
  }
}

/** The quote as it is kept: with the whole body of its 402. */
export function payRequestOf(facts: QuoteFacts, quote: object): PayRequest {
  return {
    pay_req_id: facts.payReqId,
    created_at: facts.createdAt,
    expires_at: facts.expiresAt,
    provider: facts.provider,
    units: facts.units,
    quote: JSON.stringify(quote),
  }
}
