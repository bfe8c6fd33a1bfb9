import { createHash } from 'node:crypto'
import type { Body } from '@svc/api/endpoint'
import type { Quote, requestStorage } from '@svc/api/purchases'
import { Answer, type WireRequest } from '@svc/http-service/serve'
import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import { toHex } from '@svc/protocol/bytes'
import { canonicalJson } from '@svc/protocol/canonical'
import { type Context, unixNow } from '../context.ts'
import { priceStorage } from './price-storage.ts'
import { quoteBody } from './quote-body.ts'
import {
  findIdempotencyKey,
  findPayRequest,
  findReceiptOfRequest,
  forgetIdempotencyKeys,
  insertPayRequest,
  type PayRequest,
  takeIdempotencyKey,
} from './store.ts'

type Order = Body<typeof requestStorage>

const KEY_KEPT_SECONDS = 86_400

/** A quote, new or, under a known Idempotency-Key, the one it had. Stored before it is answered: it fixes the terms. */
export async function requestQuote(context: Context, order: Order, wire: WireRequest): Promise<Answer<Quote>> {
  const key = idempotencyKey(wire)
  const orderHash = createHash('sha256')
    .update(canonicalJson(declared(order)))
    .digest('hex')
  for (;;) {
    const kept = key === null ? null : await findKept(context, key, orderHash)
    if (kept?.quote) return answered(kept.quote)
    const request = await newPayRequest(context, order)
    const isStored = await context.database.db.transaction().execute(async (tx) => {
      if (key !== null) {
        await forgetIdempotencyKeys(tx, request.created_at - KEY_KEPT_SECONDS)
        const taken = {
          idempotency_key: key,
          body_sha256: orderHash,
          pay_req_id: request.pay_req_id,
          created_at: request.created_at,
        }
        if (!(await takeIdempotencyKey(tx, taken, kept?.replacing ?? null))) return false
      }
      await insertPayRequest(tx, request)
      return true
    })
    // Somebody else took the key in between: then theirs is the quote.
    if (isStored) return answered(request.quote)
  }
}

function idempotencyKey({ headers }: WireRequest): string | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw new ValidationError({ loc: ['header', 'Idempotency-Key'], msg: 'must be 1 to 255 visible ASCII characters' })
}

function declared({ units, provider, pay_network, pay_asset }: Order) {
  return { units, provider: provider ?? null, pay_network: pay_network ?? null, pay_asset: pay_asset ?? null }
}

/** What stands under a key: a quote to repeat, or one that is over and may be replaced. */
async function findKept(
  context: Context,
  key: string,
  orderHash: string,
): Promise<{ quote?: string; replacing: string } | null> {
  const { db } = context.database
  const now = unixNow(context)
  const kept = await findIdempotencyKey(db, key)
  if (!kept) return null
  const replacing = kept.pay_req_id
  if (kept.created_at <= now - KEY_KEPT_SECONDS) return { replacing }
  if (kept.body_sha256 !== orderHash) {
    throw new ServiceError('idempotency_conflict', 'this Idempotency-Key came with another body before', {
      hint: 'repeat the same body, or use a new key for a new purchase',
    })
  }
  const request = await findPayRequest(db, kept.pay_req_id)
  if (!request) return { replacing }
  const isOver = request.expires_at < now && !(await findReceiptOfRequest(db, request.pay_req_id))
  return isOver ? { replacing } : { quote: request.quote, replacing }
}

async function newPayRequest(context: Context, order: Order): Promise<PayRequest> {
  const { config } = context
  const created_at = unixNow(context)
  const expires_at = created_at + config.payments.quoteTtlSeconds
  const pay_req_id = `pr_${toHex(context.randomBytes(16))}`
  const priced = await priceStorage(context, order, 'body')
  const quote = quoteBody({
    ...priced,
    payReqId: pay_req_id,
    baseUrl: config.http.baseUrl,
    isDevelopment: config.mode === 'development',
    expiresAt: expires_at,
    terms: config.payments.terms[priced.provider],
  })
  return {
    pay_req_id,
    created_at,
    expires_at,
    provider: priced.provider,
    units: order.units,
    quote: JSON.stringify(quote),
  }
}

/** Stock x402 clients read the header alone. It leaves out what only people read: servers limit header sizes (ADD-01). */
function answered(stored: string): Answer<Quote> {
  const quote = JSON.parse(stored) as Quote
  const { price_summary, info } = quote.extensions.svc
  const header = { ...quote, extensions: { svc: { price_summary, info } } }
  return new Answer(402, quote, { 'payment-required': Buffer.from(JSON.stringify(header)).toString('base64') })
}
