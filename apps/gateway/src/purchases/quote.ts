// From an order to its quote, which is stored before the 402 response is sent. Quotes for the same order at the same
// market share a template: later ones are created and stored without their text.

import { hash } from 'node:crypto'
import type { Body } from '@svc/api/endpoint'
import type { Provider } from '@svc/api/providers'
import type { Quote, Renewal, requestStorage, Terms } from '@svc/api/purchases'
import { type Lru, lru } from '@svc/concurrency/caches'
import { groupWrites } from '@svc/database/commit'
import { challengesFor, payeeOf, type QuoteCharges, quoteCharges } from '@svc/payments/selling/mpp/challenge'
import { plainOfferText } from '@svc/payments/selling/payment-headers'
import type { Market } from '@svc/payments/selling/price-legs'
import * as selling from '@svc/payments/selling/quote'
import {
  fillTemplate,
  PLACEHOLDER,
  type QuoteTemplate,
  type QuoteTexts,
  quoteTemplate,
  quoteTexts,
  templateText,
} from '@svc/payments/selling/quote-template'
import { toHex } from '@svc/protocol/bytes'
import type { Answer, JsonText } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { limitAnonymous } from '../auth/limits.ts'
import type { Config } from '../config.ts'
import { type Context, unixNow } from '../context.ts'
import type { Tx } from '../db/schema.ts'
import { type IdempotencyKey, idempotencyKey, type KeyedOrder, quoteOnce } from './idempotency.ts'
import { chooseProvider, type PricedOrder, priceOrder, priceStorage } from './prices.ts'
import { findRenewed, isRenewal, type RenewalOrder, renewalOf, requireForSale } from './renewal.ts'
import {
  findReceiptOfRequest,
  insertPayRequest,
  insertQuotes,
  type PayRequest,
  type QuoteRow,
  storeTemplate,
} from './store.ts'

type Order = Body<typeof requestStorage>
type QuoteAnswer = Answer<JsonText<Quote>>

export interface Quotes {
  /** By order. A changed leg or rate makes a different market. */
  templates: WeakMap<Market, Lru<string, OrderTemplate>>
  /** Durable when it resolves. */
  insert: (row: QuoteRow) => Promise<unknown>
}

/** Quotes for one order at one market fill in this template. */
interface OrderTemplate extends QuoteTemplate {
  provider: Provider
  units: number
  charges: QuoteCharges
  stored: { id: string; text: string }
  /** When this process last stored it, in Unix seconds. */
  storedAt: number
}

export function createQuotes({ database: { commit } }: Pick<Context, 'database'>): Quotes {
  const insertAll = async (tx: Tx, rows: readonly QuoteRow[]) => {
    const inserted = await insertQuotes(tx, JSON.stringify(rows))
    return rows.map(() => inserted)
  }
  return { templates: new WeakMap(), insert: groupWrites(commit, insertAll, { isOneStatement: true }) }
}

/** Under a known Idempotency-Key, the quote of that key. */
export async function requestQuote(context: Context, order: Order, wire: WireRequest): Promise<QuoteAnswer> {
  await limitAnonymous(context, wire, null)
  await context.continuity.requireCurrent()
  refuseSignedPayment(context.config, order, wire)
  const key = idempotencyKey(wire)
  if (key !== null) return requestOnce(context, order, key, wire)
  if (isRenewal(order)) return requestRenewal(context, order, wire)
  const template = await templateOf(context, order)
  const id = newQuoteId(context)
  await storeQuote(context, template, id)
  const textOf = quoteTexts(id)
  const { body, header } = fillTemplate(template, textOf)
  return selling.paymentRequired(body, header, challengesFor(template.charges, textOf, wire))
}

/**
 * The quote of this endpoint is paid with a transaction. A stock x402 client that sends a signature is referred to the
 * endpoint that accepts it (ADD-21).
 */
function refuseSignedPayment(config: Config, order: Order, { headers }: Pick<WireRequest, 'headers'>): void {
  const name = ['PAYMENT-SIGNATURE', 'X-PAYMENT'].find((header) => headers[header.toLowerCase()] !== undefined)
  if (name === undefined) return
  const isOnChainOnly = isRenewal(order)
  const x402Url = isOnChainOnly ? null : x402UrlOf(config)
  const why = isOnChainOnly ? 'renewals are paid on chain' : 'this gateway does not send signed payments'
  throw new ServiceError(
    'signed_payment_not_taken',
    `this endpoint does not accept ${name}; nothing was sent or changed`,
    {
      hint:
        x402Url === null
          ? `${why}: ${PAY_YOURSELF}`
          : `send the same body to POST ${x402Url}: it is for x402 version 2 clients`,
      ...(x402Url !== null && { details: { x402_url: x402Url } }),
    },
  )
}

const PAY_YOURSELF = 'pay an entry of accepts yourself, then confirm with POST /v1/storage/confirm'

async function requestOnce(
  context: Context,
  order: Order,
  key: IdempotencyKey,
  wire: WireRequest,
): Promise<QuoteAnswer> {
  const request = await quoteOnce(context, {
    key,
    ...keyedFields(order),
    isUsed: async ({ pay_req_id }) => (await findReceiptOfRequest(context.database.db, pay_req_id)) !== null,
    make: () => newPayRequest(context, order),
  })
  if (isRenewal(order)) await requireForSale(context, JSON.parse(request.quote))
  return quoteAnswer(context, request, wire)
}

function keyedFields(body: Order): Pick<KeyedOrder, 'order' | 'unknown'> {
  const { units, provider = null, pay_network = null, pay_asset = null, extends: renewed, ...unknown } = body
  return { order: [units, provider, pay_network, pay_asset, ...(renewed === undefined ? [] : [renewed])], unknown }
}

/** Stored in full, because it may be requested again. */
async function newPayRequest(context: Context, order: Order): Promise<PayRequest> {
  if (isRenewal(order)) return newRenewalRequest(context, order)
  const template = await templateOf(context, order)
  const id = newQuoteId(context)
  return payRequestOf({ ...template, ...id }, fillTemplate(template, quoteTexts(id)).body)
}

async function requestRenewal(context: Context, order: RenewalOrder, wire: WireRequest): Promise<QuoteAnswer> {
  const request = await newRenewalRequest(context, order)
  await context.database.commit((tx) => insertPayRequest(tx, request))
  return quoteAnswer(context, request, wire)
}

/** Stored in full, because it is for one locker only. */
async function newRenewalRequest(context: Context, order: RenewalOrder): Promise<PayRequest> {
  const locker = await findRenewed(context, order)
  const provider = locker.provider as Provider // from the original quote
  const facts = newQuoteFacts(context, await priceStorage(context, { ...order, provider }, 'body'))
  const renewal = renewalOf(locker, scaleTerms(facts.terms, facts.units), unixNow(context))
  // The x402 endpoint sells new lockers only.
  return payRequestOf(facts, JSON.stringify(quoteBody({ ...facts, x402Url: null, renewal })))
}

function quoteAnswer({ config }: Context, request: PayRequest, wire: WireRequest): QuoteAnswer {
  const quote = JSON.parse(request.quote) as Quote
  const challenges = challengesFor(storageCharges(config, quote), textsOf(request), wire)
  return selling.paymentRequired(request.quote, plainOfferText(quote), challenges)
}

/** The content of a quote's challenges. A renewal is paid on chain only: a signed payment opens a new locker. */
export function storageCharges(config: Config, { accepts, extensions }: Quote): QuoteCharges {
  const takesAuthorizations = config.x402.takesAuthorizations && extensions.svc.renewal === undefined
  return quoteCharges(accepts, payeeOf(config, takesAuthorizations))
}

export function textsOf({ pay_req_id, expires_at }: Pick<PayRequest, 'pay_req_id' | 'expires_at'>): QuoteTexts {
  return quoteTexts({ payReqId: pay_req_id, expiresAt: expires_at })
}

const MAX_TEMPLATES = 500

/** Created once for each order and market. */
async function templateOf(context: Context, order: Order): Promise<OrderTemplate> {
  const provider = await chooseProvider(context, order, 'body')
  const market = await context.sales.market()
  const templates = context.quotes.templates.get(market) ?? lru(MAX_TEMPLATES)
  context.quotes.templates.set(market, templates)
  const key = JSON.stringify([provider, order.units, order.pay_network, order.pay_asset])
  const cached = templates.get(key)
  if (cached) return cached
  const facts = offerFacts(context.config, priceOrder(context.config, market, { ...order, provider }, 'body'))
  const quote = quoteBody({ ...facts, ...PLACEHOLDER })
  const pieces = quoteTemplate(quote)
  const text = templateText(pieces)
  const stored = { id: hash('sha256', text).slice(0, 32), text }
  const charges = storageCharges(context.config, quote)
  const template = { ...pieces, provider, units: order.units, charges, stored, storedAt: 0 }
  templates.set(key, template)
  return template
}

/** A template is stored again after this time, so that the sweep never deletes one in use. */
const RENEW_TEMPLATE_SECONDS = 3600
export const TEMPLATE_LIFETIME_SECONDS = 86_400

/** Durable when it resolves. The template is stored before the first of its quotes. */
async function storeQuote(context: Context, template: OrderTemplate, id: NewQuoteId): Promise<void> {
  const { provider, units, stored } = template
  const { payReqId, createdAt, expiresAt } = id
  if (template.storedAt <= createdAt - RENEW_TEMPLATE_SECONDS) {
    await context.database.commit((tx) => storeTemplate(tx, stored, createdAt))
    template.storedAt = createdAt
  }
  await context.quotes.insert([payReqId, createdAt, expiresAt, provider, units, stored.id])
}

/** The facts that all quotes for the same order at the same rates share. */
interface OfferFacts extends PricedOrder {
  baseUrl: string
  /** Null while the x402 endpoint sells nothing, and for orders that it does not sell. */
  x402Url: string | null
  isDevelopment: boolean
  /** For one unit. */
  terms: Terms
}

interface NewQuoteId extends selling.QuoteId {
  /** Unix seconds. */
  createdAt: number
}

type QuoteFacts = OfferFacts & NewQuoteId

export function newQuoteFacts(context: Context, priced: PricedOrder): QuoteFacts {
  return { ...offerFacts(context.config, priced), ...newQuoteId(context) }
}

function offerFacts(config: Config, priced: PricedOrder): OfferFacts {
  const { baseUrl } = config.http
  const terms = config.payments.terms[priced.provider]
  return { ...priced, baseUrl, x402Url: x402UrlOf(config), isDevelopment: config.mode === 'development', terms }
}

/** Where stock x402 clients buy; null when this gateway sends no signed payments. */
function x402UrlOf({ http, x402 }: Pick<Config, 'http' | 'x402'>): string | null {
  return x402.isOpen ? `${http.baseUrl}/v1/x402/storage` : null
}

export function confirmUrlOf({ baseUrl }: Pick<OfferFacts, 'baseUrl'>): string {
  return `${baseUrl}/v1/storage/confirm`
}

function newQuoteId(context: Context): NewQuoteId {
  const createdAt = unixNow(context)
  const expiresAt = createdAt + context.config.payments.quoteTtlSeconds
  return { payReqId: `pr_${toHex(context.randomBytes(16))}`, createdAt, expiresAt }
}

export function quoteBody(facts: OfferFacts & selling.QuoteId & { renewal?: Renewal }): Quote {
  const { baseUrl, units, provider, renewal } = facts
  const body = selling.quoteBody({
    ...facts,
    url: `${baseUrl}/v1/storage/request`,
    description: `${units} unit${units === 1 ? '' : 's'} of storage at ${provider}${renewal ? ', for an existing locker' : ''}`,
    confirmUrl: confirmUrlOf(facts),
    confirmHeaders: [],
    lastStep: renewal
      ? `The receipt proves the payment; ${renewal.locker_id} remains open.`
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
function scaleTerms(terms: Terms, units: number): Terms {
  return {
    ...terms,
    storage_limit_bytes: terms.storage_limit_bytes * units,
    file_limit: terms.file_limit * units,
    egress_included_bytes: terms.egress_included_bytes * units,
    ...(terms.settled_limit_bytes !== undefined && { settled_limit_bytes: terms.settled_limit_bytes * units }),
  }
}

/** `quote` is the whole 402 body: it determines how a confirmation is judged, whatever changes later. */
export function payRequestOf(
  { payReqId, createdAt, expiresAt, provider, units }: Pick<QuoteFacts, 'provider' | 'units'> & NewQuoteId,
  quote: string,
): PayRequest {
  return { pay_req_id: payReqId, created_at: createdAt, expires_at: expiresAt, provider, units, quote }
}
