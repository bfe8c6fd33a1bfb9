// The 402 response of the x402 endpoint: a quote whose legs stock x402 clients can sign.

import type { Body } from '@svc/api/endpoint'
import type { Quote } from '@svc/api/purchases'
import type { buyStorage, X402Leg, X402Quote } from '@svc/api/x402'
import { x402OfferText } from '@svc/payments/selling/payment-headers'
import { developmentWarning } from '@svc/payments/selling/quote'
import { type PricedLeg, x402Leg } from '@svc/payments/x402'
import { Answer, JsonText } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../../../context.ts'
import { idempotencyKey, quoteOnce } from '../../idempotency.ts'
import { priceStorage } from '../../prices.ts'
import { newQuoteFacts, payRequestOf, quoteBody } from '../../quote.ts'
import { findReceiptOfRequest, insertPayRequest, type PayRequest } from '../../store.ts'
import { cannotSettle, earlierPaymentOpen, type PaymentRefused } from './errors.ts'
import { isOpen } from './finish-settlement.ts'
import { signOffers } from './offer-receipt.ts'
import { resumeSettlement } from './settle.ts'
import { findSettlement } from './store.ts'

export type X402Order = Body<typeof buyStorage>
export type Offer = Answer<JsonText<X402Quote>>

/**
 * Under an Idempotency-Key, a repeated call gets the same quote, even once it is paid: a key may be guessed, and only
 * the payer may get the receipt (ADD-13). A stock client then signs again, is recognized by its signature, and pays
 * nothing.
 */
export async function offer(context: Context, order: X402Order, wire: WireRequest): Promise<Offer> {
  const { db } = context.database
  const key = idempotencyKey(wire)
  if (key === null) return offered(context, await newStoredRequest(context, order))
  const { units = 1, provider = null, tags = null, ...unknown } = order
  const request = await quoteOnce(context, {
    key,
    order: ['x402', units, provider, tags],
    unknown,
    make: () => newX402Request(context, order),
    isUsed: async ({ pay_req_id }) =>
      Boolean((await findReceiptOfRequest(db, pay_req_id)) ?? (await findSettlement(db, pay_req_id))),
  })
  if (await findReceiptOfRequest(db, request.pay_req_id)) return offered(context, request)
  // Throws while a payment is in progress: a new signature would be rejected.
  const earlier = await resumeSettlement(context, request)
  if (isOpen(earlier)) throw earlierPaymentOpen(earlier.network, earlier.open)
  return offered(context, request)
}

async function newStoredRequest(context: Context, order: X402Order): Promise<PayRequest> {
  const request = await newX402Request(context, order)
  await context.database.commit((tx) => insertPayRequest(tx, request))
  return request
}

async function offered(context: Context, { quote: text, expires_at }: PayRequest): Promise<Offer> {
  const quote = JSON.parse(text) as X402Quote
  const signed = { ...quote, extensions: { ...quote.extensions, ...(await signOffers(context, quote, expires_at)) } }
  return new Answer(402, new JsonText<X402Quote>(JSON.stringify(signed)), {
    'payment-required': paymentRequired(quote),
  })
}

function paymentRequired(quote: X402Quote, error?: string): string {
  return Buffer.from(x402OfferText(quote, { error, extensions: ANNOUNCED })).toString('base64')
}

/**
 * Returns the same quote while it can be paid, because it is paid at most once; otherwise a new one. Never for a
 * renewal, because this endpoint sells only new lockers.
 */
export async function withOffer(
  context: Context,
  order: X402Order,
  request: PayRequest,
  refusal: PaymentRefused,
): Promise<ServiceError> {
  const { db } = context.database
  const receipt = await findReceiptOfRequest(db, request.pay_req_id)
  // An earlier payment may still succeed: nothing else must be signed.
  if (!receipt && (await findSettlement(db, request.pay_req_id))) return refusal
  // The signature may belong to any quote of this gateway.
  const { svc } = (JSON.parse(request.quote) as X402Quote | Quote).extensions
  if ('renewal' in svc) return refusal
  const isPayable = !receipt && svc.info.flow === 'sign-and-repeat' && unixNow(context) <= request.expires_at
  try {
    const payable = isPayable ? request : await newStoredRequest(context, order)
    return refusal.offering(paymentRequired(JSON.parse(payable.quote), refusal.reason))
  } catch (error) {
    // The rejection takes precedence, even if nothing can be sold at the moment.
    if (error instanceof ServiceError) return refusal
    throw error
  }
}

async function newX402Request(context: Context, order: X402Order): Promise<PayRequest> {
  const priced = await priceStorage(context, { units: order.units ?? 1, provider: order.provider }, 'body')
  const facts = newQuoteFacts(context, priced)
  const { payReqId: pay_req_id, x402Url, isDevelopment } = facts
  const accepts = facts.legs.flatMap((leg) => signableLeg(context, leg, pay_req_id) ?? [])
  if (accepts.length === 0 || x402Url === null) throw cannotSettle()
  const { resource, extensions } = quoteBody(facts)
  const { terms, price_summary } = extensions.svc
  const quote: X402Quote = {
    x402Version: 2,
    resource: { ...resource, url: x402Url },
    accepts,
    error: PAYMENT_REQUIRED,
    extensions: {
      svc: {
        terms,
        instructions: { steps: [...developmentWarning(isDevelopment), ...STEPS] },
        price_summary,
        ...(order.tags && { tags: order.tags }),
        info: { flow: 'sign-and-repeat', pay_req_id, expires_at: terms.quote_expires_at },
        schema: INFO_SCHEMA,
      },
    },
  }
  return payRequestOf(facts, JSON.stringify(quote))
}

const PAYMENT_REQUIRED =
  'Payment required, by x402 version 2: sign for one of the legs and repeat the request with PAYMENT-SIGNATURE.'

const INFO_SCHEMA = {
  type: 'object',
  required: ['flow', 'pay_req_id', 'expires_at'],
  additionalProperties: { type: 'string' },
}

const STEPS = [
  "Sign for one entry of accepts by x402's exact scheme: any x402 version 2 client does this by itself.",
  'Repeat the same request with header PAYMENT-SIGNATURE; the gateway sends the payment and pays the network fee.',
  'After an answer that is neither 200 nor 402, repeat with the same signature: it can pay only once.',
  'The answer has the receipt and the locker_id: the locker is open, and next_step says how to store the first file.',
]

/**
 * The exact scheme supports EVM tokens with EIP-3009 and dollar tokens of the Solana family. Null for all other legs.
 */
function signableLeg({ settlers }: Context, leg: PricedLeg, payReqId: string): X402Leg | null {
  const { network, pricing, domainVersion: version } = leg.of
  const settler = settlers.get(network)
  if (!settler) return null
  const { extra, ...wire } = x402Leg(leg, payReqId)
  const { paymentFlow, assetTransferMethod, memo, ...facts } = extra
  if (network.family === 'evm') return version === undefined ? null : { ...wire, extra: { ...facts, version } }
  if (pricing.by !== 'usd' || !settler.feePayer) return null
  // Stock clients derive the token account themselves. The payment reader takes it from the leg.
  return { ...wire, payTo: leg.wallet, extra: { ...facts, memo, feePayer: settler.feePayer, token_account: leg.payTo } }
}

/**
 * The x402 extensions that the header of an offer announces. Clients return them with their signature, and the size of
 * headers is limited (ADD-01), so they are short. Signed offers are in the body.
 */
const ANNOUNCED = {
  /** A client may name its purchase; each name is paid once (`payment-identifier.ts`). */
  'payment-identifier': {
    info: { required: false },
    schema: {
      type: 'object',
      properties: {
        required: { type: 'boolean' },
        id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
      },
      required: ['required'],
    },
  },
  /** For catalogues: describes the request. The API description contains an example of the answer. */
  bazaar: {
    info: { input: { type: 'http', method: 'POST', bodyType: 'json', body: { units: 1 } }, output: { type: 'json' } },
    schema: {
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: {
            body: {
              type: 'object',
              properties: { units: { type: 'integer', minimum: 1 }, provider: { type: 'string' } },
            },
          },
        },
      },
      required: ['input'],
    },
  },
}
