// The body of a 402 response: what to pay, where, by when, and what for.

import { ROLES } from '@svc/api/networks'
import { toHex, utf8 } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { paymentReference, solanaPayReference } from '@svc/protocol/ids'
import { Answer, JsonText } from '@svc/service/http/answer'
import { displayAmount } from '../amounts.ts'
import { type PricedLeg, x402Leg } from '../x402.ts'
import { plainOfferText } from './payment-headers.ts'
import type { PricedLegs } from './price-legs.ts'

/** What is unique to one quote. */
export interface QuoteId {
  payReqId: string
  /** Unix seconds. */
  expiresAt: number
}

export interface Offer<Terms, Summary> extends QuoteId {
  isDevelopment: boolean
  legs: PricedLegs
  url: string
  description: string
  confirmUrl: string
  /** Headers to send besides X402-TX. */
  confirmHeaders: readonly string[]
  /** What to do after the confirmation. */
  lastStep: string
  /** The URL that sells the same to x402 clients that only sign, if any. */
  x402Url: string | null
  terms: Terms
  priceSummary: Summary
}

export function quoteBody<Terms, Summary>(offer: Offer<Terms, Summary>) {
  const { payReqId, legs, confirmUrl } = offer
  const expires = isoSeconds(offer.expiresAt)
  return {
    x402Version: 2 as const,
    resource: { url: offer.url, description: offer.description, mimeType: 'application/json' },
    accepts: legs.map((leg) => withTransferRequest(leg, offer)),
    error: 'Payment required: pay one of the legs, then confirm with the transaction.',
    extensions: {
      svc: {
        terms: {
          ...offer.terms,
          quote_expires_at: expires,
          ...(offer.isDevelopment && { environment: 'development' as const }),
        },
        instructions: { steps: steps(offer), confirm_url: confirmUrl, cli_example: cliExample(offer) },
        price_summary: offer.priceSummary,
        payment_reference: paymentReference(payReqId),
        legacy: legacyForm(legs[0], payReqId),
        info: {
          flow: 'pay-then-confirm',
          confirm_url: confirmUrl,
          confirm_header: 'X402-TX',
          pay_req_id: payReqId,
          expires_at: expires,
          ...(offer.x402Url !== null && { x402_url: offer.x402Url }),
        },
        schema: INFO_SCHEMA,
      },
    },
  }
}

/** The URL that a wallet on a phone reads (ADD-49). */
function withTransferRequest(leg: PricedLeg, { payReqId, url, description }: Offer<unknown, unknown>) {
  const wire = x402Leg(leg, payReqId)
  if (leg.of.network !== ROLES.solanaPay) return wire
  const seller = { label: new URL(url).host, message: description }
  return { ...wire, extra: { ...wire.extra, solana_pay: transferRequest(leg, payReqId, seller) } }
}

interface TransferRequest {
  url: string
  /** The address that the payment names, by which it is found on chain. */
  reference: string
}

/** What a wallet shows about the seller and the goods. */
interface ShownSeller {
  label: string
  message: string
}

/**
 * A payment as a Solana Pay URL, which wallets on phones read from a QR code. The recipient is the treasury's wallet:
 * wallets derive the token account. The memo binds the payment to the quote; the reference only makes it findable.
 */
export function transferRequest(
  { of, asset, wallet, amount }: PricedLeg,
  payReqId: string,
  { label, message }: ShownSeller,
): TransferRequest {
  const reference = solanaPayReference(payReqId)
  const fields = {
    amount: displayAmount(amount, of.decimals),
    ...(asset !== of.network.nativeAsset && { 'spl-token': asset }),
    reference,
    label,
    message,
    memo: paymentReference(payReqId),
  }
  // URLSearchParams would write a space as a plus sign, which some wallets show.
  const query = Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return { url: `solana:${wallet}?${query.join('&')}`, reference }
}

const INFO_SCHEMA = {
  type: 'object',
  required: ['flow', 'confirm_url', 'confirm_header', 'pay_req_id', 'expires_at'],
  additionalProperties: { type: 'string' },
}

/** The parts of any quote that go into the header. */
export type AnyQuote = Parameters<typeof plainOfferText>[0]

export function quoteAnswer<Quote extends AnyQuote>(
  text: string,
  quote: Quote,
  challenges: string | null,
): Answer<JsonText<Quote>> {
  return paymentRequired(text, plainOfferText(quote), challenges)
}

/** Transfer requests are long, and follow from the rest of the quote. */
export function withoutTransferRequests<Quote extends AnyQuote>(quote: Quote): Quote {
  const accepts = quote.accepts.map((leg) => {
    const { solana_pay: _, ...extra } = leg.extra as { solana_pay?: object }
    return { ...leg, extra }
  })
  return { ...quote, accepts }
}

/** `challenges` are those of the Machine Payments Protocol, if any. */
export function paymentRequired<Quote>(
  body: string,
  header: string,
  challenges: string | null,
): Answer<JsonText<Quote>> {
  const encoded = Buffer.from(header).toString('base64')
  const headers = { 'payment-required': encoded, ...(challenges !== null && { 'www-authenticate': challenges }) }
  return new Answer(402, new JsonText<Quote>(body), headers)
}

function steps(offer: Offer<unknown, unknown>): string[] {
  const { isDevelopment, payReqId, confirmUrl, confirmHeaders, lastStep, x402Url } = offer
  const headers = ['X402-TX: <transaction>', ...confirmHeaders].join(' and ')
  return [
    ...developmentWarning(isDevelopment),
    `Pay one entry of accepts: its amount of its asset to its payTo. Put ${paymentReference(payReqId)} into a memo or the calldata.`,
    `POST ${confirmUrl} with header ${headers} and body {"pay_req_id":"${payReqId}"}; for a leg other than the first, add pay_network and pay_asset.`,
    lastStep,
    ...(x402Url === null ? [] : [`An x402 client that only signs buys with POST ${x402Url} instead.`]),
  ]
}

/** Comes first in all payment instructions (ADD-10). */
export function developmentWarning(isDevelopment: boolean): string[] {
  const warning = 'DEVELOPMENT: do not send real funds. This gateway runs on local chains with worthless coins.'
  return isDevelopment ? [warning] : []
}

/**
 * Uses common tools. The memo binds the payment to this quote, so that no one else can claim it. Payments are public:
 * the command never contains `pay_req_id`.
 */
function cliExample({ legs, payReqId, confirmUrl, confirmHeaders }: Offer<unknown, unknown>): string {
  const headers = ['X402-TX: <transaction>', ...confirmHeaders, 'Content-Type: application/json']
  const confirm = `curl -X POST ${confirmUrl} ${headers.map((header) => `-H '${header}'`).join(' ')} -d '{"pay_req_id":"${payReqId}"}'`
  return `${payCommand(legs[0], payReqId)} && ${confirm}`
}

function payCommand({ of, asset, payTo, amount }: PricedLeg, payReqId: string): string {
  const isNative = asset === of.network.nativeAsset
  const reference = paymentReference(payReqId)
  const memo = toHex(utf8(reference))
  if (of.network.family === 'evm') {
    return isNative
      ? `cast send ${payTo} 0x${memo} --value ${amount}`
      : `cast send ${asset} $(cast calldata 'transfer(address,uint256)' ${payTo} ${amount})${memo}`
  }
  const display = displayAmount(amount, of.decimals)
  return isNative
    ? `solana transfer ${payTo} ${display} --with-memo ${reference}`
    : `spl-token transfer ${asset} ${display} ${payTo} --with-memo ${reference}`
}

/** Field names of older quotes, for the default leg (PAY-31). */
function legacyForm(leg: PricedLeg, payReqId: string) {
  const { network, ticker } = leg.of
  const amount = String(leg.amount)
  const isSol = ticker === 'SOL'
  return {
    pay_req_id: payReqId,
    pay_to_address: leg.payTo,
    pay_network: network.name,
    pay_asset: ticker,
    amount_raw: amount,
    amount_sol: isSol ? displayAmount(leg.amount, leg.of.decimals) : null,
    amount_lamports: isSol ? amount : null,
    amount_wei: ticker === 'MON' ? amount : null,
  }
}
