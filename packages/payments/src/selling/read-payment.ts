// Confirming a payment: which transaction and which leg, and what the chain says about it.

import type { IncomingHttpHeaders } from 'node:http'
import { NETWORKS, type Network, networkNamed } from '@svc/api/networks'
import type { PaymentLeg } from '@svc/api/quote'
import type { X402Leg } from '@svc/api/x402'
import type { Log } from '@svc/http-service/log'
import { ServiceError } from '@svc/http-service/service-error'
import { fromBase58 } from '@svc/protocol/bytes'
import { canonicalTx } from '@svc/protocol/ids'
import { type LegChoice, notInQuote } from '../legs.ts'
import { type ChainPayment, judgePayment, type RejectionReason } from '../payment.ts'
import { chainUnavailable, quoteExpired, type SeenPayment, txNotFound, txRequired } from './errors.ts'
import type { Sales } from './sales.ts'
import type { SalesConfig } from './settings.ts'

/** The transaction from the header X402-TX or the body: the first of the two that is well-formed (AMB-49). */
export function findTransactionId(headers: IncomingHttpHeaders, txSig: string | undefined): string | null {
  const candidates = [headers['x402-tx'], txSig].filter((text) => typeof text === 'string').map((text) => text.trim())
  const wellFormed = candidates.find(isTransactionId)
  return wellFormed ? canonicalTx(wellFormed) : null
}

export function transactionId(headers: IncomingHttpHeaders, txSig: string | undefined): string {
  const tx = findTransactionId(headers, txSig)
  if (tx === null) throw txRequired()
  return tx
}

function isTransactionId(text: string): boolean {
  return /^0x[0-9a-f]{64}$/i.test(text) || fromBase58(text, 64) !== null
}

/** A leg of a stored quote. */
export interface QuotedLeg {
  network: Network
  ticker: string
  decimals: number
  asset: string
  payTo: string
  amount: bigint
}

/**
 * The leg of a quote that a confirmation names, or the first when it names none. A network alone or an asset alone can
 * only mean the first leg (AMB-14).
 */
export function paidLeg(accepts: readonly PaymentLeg[], choice: LegChoice): QuotedLeg {
  const legs = accepts.map(quotedLeg)
  const first = legs[0] as QuotedLeg
  const { pay_network, pay_asset } = choice
  const network = pay_network === undefined ? first.network : networkNamed(pay_network)
  // Compare in lower case, because the upper case of 'ſ' is 'S', and 'uſdc' is no ticker.
  const ticker = (pay_asset ?? first.ticker).toLowerCase()
  const leg = legs.find((candidate) => candidate.network === network && candidate.ticker.toLowerCase() === ticker)
  const isHalf = (pay_network === undefined) !== (pay_asset === undefined)
  if (leg && (leg === first || !isHalf)) return leg
  if (isHalf)
    throw new ServiceError('leg_incomplete', 'pay_network and pay_asset must be sent together to pay another leg', {
      hint: `send both, or neither for ${first.ticker} on ${first.network.name}`,
    })
  throw new ServiceError('leg_not_in_quote', notInQuote(choice, first.network.name), {
    hint: `the quote can be paid in ${legs.map(({ ticker, network }) => `${ticker} on ${network.name}`).join(', ')}`,
  })
}

/** `payTo` is where the money arrives: for tokens of the primary chain the token account, not the wallet. */
export function quotedLeg({ network, asset, amount, extra, ...leg }: X402Leg): QuotedLeg {
  const known = NETWORKS.find(({ caip2 }) => caip2 === network)
  if (!known) throw new Error(`a stored quote names the network ${network}`)
  const payTo = extra.token_account ?? leg.payTo
  return { network: known, ticker: extra.name, decimals: extra.decimals, asset, payTo, amount: BigInt(amount) }
}

/** What reading payments takes. */
export interface PaymentTools {
  sales: Sales
  config: { payments: SalesConfig }
  log: Log
  /** Unix milliseconds. */
  now: () => number
}

/** When a quote was made and when it expires, in Unix seconds. */
export interface QuoteTime {
  created_at: number
  expires_at: number
}

export interface Purchase {
  request: QuoteTime
  /** A leg of the request's quote. */
  leg: QuotedLeg
}

type ReadPayment = ChainPayment | { outcome: 'rejected'; reason: RejectionReason; seen: SeenPayment }

/**
 * Reads a transaction as the payment of purchases with one destination: the payment, if it covers all of them together,
 * or why it does not. `payReqIds` are the quotes that the transaction may name.
 */
export async function readPayment(
  tools: PaymentTools,
  tx: string,
  purchases: readonly [Purchase, ...Purchase[]],
  payReqIds: readonly string[],
): Promise<ReadPayment> {
  const [{ leg, request: quote }] = purchases
  const amount = purchases.reduce((sum, purchase) => sum + purchase.leg.amount, 0n)
  const reading = await tools.sales.reader(leg.network).read(tx, leg)
  switch (reading.outcome) {
    case 'unavailable':
      throw chainUnavailable()
    case 'not_found':
      throw txNotFound(leg.network)
    case 'rejected':
      return { ...reading, seen: { leg, amount, quote, payment: null } }
  }
  const { timeSkewSeconds: skewSeconds } = tools.config.payments
  for (const { request } of purchases) {
    const { created_at: createdAt, expires_at: expiresAt } = request
    const terms = { amount, payReqIds, createdAt, expiresAt, skewSeconds, now: unixNow(tools) }
    const judgement = judgePayment(reading, terms)
    if (!judgement.paid)
      return { outcome: 'rejected', reason: judgement.reason, seen: { leg, amount, quote: request, payment: reading } }
  }
  return reading
}

/**
 * An expired quote takes no payments, but a payment that was made in time may be confirmed later. Every other outcome of
 * an expired quote is 410 (AMB-06).
 */
export async function inQuoteTime<Payment>(
  tools: PaymentTools,
  requests: readonly QuoteTime[],
  read: () => Promise<Payment>,
): Promise<Payment> {
  const now = unixNow(tools)
  const end = Math.min(...requests.map(({ expires_at }) => expires_at))
  if (now <= end) return read()
  if (now > end + tools.config.payments.lateConfirmSeconds) throw quoteExpired(end, now)
  try {
    return await read()
  } catch (error) {
    throw error instanceof ServiceError ? quoteExpired(end, now, error) : error
  }
}

function unixNow({ now }: PaymentTools): number {
  return Math.floor(now() / 1000)
}
