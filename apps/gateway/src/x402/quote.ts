// A quote whose legs stock x402 clients can sign for.

import type { Body } from '@svc/api/endpoint'
import type { buyStorage, X402Leg, X402Quote } from '@svc/api/x402'
import { developmentWarning } from '@svc/payments/selling/quote'
import { type PricedLeg, x402Leg } from '@svc/payments/x402'
import { priceStorage } from '../purchases/price-storage.ts'
import { newQuoteFacts, payRequestOf, quoteBody } from '../purchases/quote.ts'
import type { PayRequest } from '../purchases/store.ts'
import { cannotSettle } from './errors.ts'
import type { X402Context } from './room.ts'

export type X402Order = Body<typeof buyStorage>

export async function newX402Request(context: X402Context, order: X402Order): Promise<PayRequest> {
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

/** The exact scheme moves tokens of the EVM chain by EIP-3009 and the dollar tokens of the primary chain. Null for all other legs. */
function signableLeg({ config, settlers }: X402Context, leg: PricedLeg, payReqId: string): X402Leg | null {
  const { network, pricing, domainVersion: version } = leg.of
  const settler = settlers.get(network)
  if (!settler) return null
  const { extra, ...wire } = x402Leg(leg, payReqId)
  const { paymentFlow, assetTransferMethod, memo, ...facts } = extra
  if (network.family === 'evm') return version === undefined ? null : { ...wire, extra: { ...facts, version } }
  const treasury = config.payments.primary?.treasury
  if (pricing.by !== 'usd' || !treasury || !settler.feePayer) return null
  // Stock clients derive the token account themselves. The payment reader takes it from the leg.
  return { ...wire, payTo: treasury, extra: { ...facts, memo, feePayer: settler.feePayer, token_account: leg.payTo } }
}
