// Confirms a payment: from what the caller shows of it to what it bought, or to the payment on chain that can be
// claimed. Every way to pay reads its payments here, and every service that sells confirms them here.

import type { IncomingHttpHeaders } from 'node:http'
import { NETWORKS, type Network, networkNamed } from '@svc/api/networks'
import type { PaymentLeg } from '@svc/api/quote'
import type { X402Leg } from '@svc/api/x402'
import { fromBase58 } from '@svc/protocol/bytes'
import { canonicalTx } from '@svc/protocol/ids'
import { isClaimSignedBy, receiptClaim, type SignedReceipt } from '@svc/protocol/receipt'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Log } from '@svc/service/program/log'
import { ServiceError } from '@svc/service/service-error'
import { type LegChoice, notInQuote } from '../legs.ts'
import { type ChainPayment, judgePayment, type RejectionReason } from '../payment.ts'
import {
  chainUnavailable,
  paymentRefused,
  payReqNotFound,
  quoteExpired,
  type SeenPayment,
  txNotFound,
  txRequired,
} from './errors.ts'
import type { Sales } from './sales.ts'
import type { SalesConfig } from './settings.ts'

/** A payment as the caller shows it. Without a network and an asset, it is for the first leg of its quote. */
export interface ShownPayment extends LegChoice {
  pay_req_id: string
  proof: PayerProof
}

/** What a confirmation shows of the payment: its transaction, the payer's signature, or both. */
export interface PayerProof {
  tx: string | null
  signature: string | undefined
}

/** The dependencies of reading payments. */
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

export interface StoredQuote extends QuoteTime {
  pay_req_id: string
  /** The whole body of the 402 response. */
  quote: string
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

/** A payment of a leg that does not buy its quote. */
export interface RefusedPayment {
  request: StoredQuote
  leg: QuotedLeg
  /** The quotes that the transaction may reference. */
  payReqIds: readonly string[]
  reason: RejectionReason
  /** Null when the chain shows no payment to the leg's destination. */
  payment: ChainPayment | null
}

/** Every service has its own tables, and claims a payment in its own commit. */
export interface Seller<Quote extends StoredQuote, Bought extends { receipt: SignedReceipt }> extends PaymentTools {
  /** The address that confirms payments here: payers sign it to get a receipt again. */
  confirmUrl: string
  /** Counts a request without credentials. */
  limitAnonymous(wire: WireRequest): Promise<void>
  findQuote(payReqId: string): Promise<Quote | null>
  /** What was bought with a quote; null while it is unpaid. May throw when there is no such quote. */
  findBought(payReqId: string): Promise<Bought | null>
  /** Throws while no payment can be claimed, before the chain is queried. */
  requireCurrent?(): Promise<void>
  /** Records a payment for refund. Returns true when it is recorded: the response then mentions it. */
  recordRefused?(refused: RefusedPayment): Promise<boolean>
}

/** A quote, and the payment of one of its legs that the chain shows. Not claimed yet. */
export interface PaidQuote<Quote> {
  request: Quote
  leg: QuotedLeg
  payment: ChainPayment
}

/**
 * Checks in the order of AMB-86. A paid quote returns what it bought to its payer again, even long after it expired;
 * for any other, the chain must show that the transaction pays it.
 */
export async function readConfirmation<Quote extends StoredQuote, Bought extends { receipt: SignedReceipt }>(
  seller: Seller<Quote, Bought>,
  shown: ShownPayment,
  wire: WireRequest,
): Promise<{ bought: Bought; paid: null } | { bought: null; paid: PaidQuote<Quote> }> {
  const bought = await seller.findBought(shown.pay_req_id)
  if (bought) {
    await requirePayerProof(shown.proof, bought.receipt, seller.confirmUrl, () => seller.limitAnonymous(wire))
    return { bought, paid: null }
  }
  const tx = requireTransaction(shown.proof)
  const request = await seller.findQuote(shown.pay_req_id)
  if (!request) throw payReqNotFound()
  await seller.limitAnonymous(wire)
  await seller.requireCurrent?.()
  const paid = await inQuoteTime(seller, [request], () => readLeg(seller, request, shown, tx))
  return { bought: null, paid }
}

/**
 * Decides who may get the receipt of a paid quote again: its id opens files, so knowing the quote is not enough
 * (ADD-13). Throws unless the caller names the transaction that paid, or signs as the payer. A caller who does not name
 * it first counts against `limit`. `confirmUrl` is the address that confirms payments here.
 */
async function requirePayerProof(
  { tx, signature }: PayerProof,
  { tx_hash, payer_pubkey, pay_req_id }: SignedReceipt,
  confirmUrl: string,
  limit: () => Promise<void>,
): Promise<void> {
  if (tx === tx_hash) return
  await limit()
  const claim = receiptClaim(confirmUrl, pay_req_id)
  if (signature === undefined || !isClaimSignedBy(payer_pubkey, claim, signature))
    throw paymentRefused('quote_already_paid')
}

/** Without a transaction, an unpaid quote cannot be confirmed. */
function requireTransaction({ tx }: PayerProof): string {
  if (tx === null) throw txRequired()
  return tx
}

/** The leg that the caller named, and the payment of it that the chain shows. */
async function readLeg<Quote extends StoredQuote>(
  seller: Seller<Quote, { receipt: SignedReceipt }>,
  request: Quote,
  choice: LegChoice,
  tx: string,
): Promise<PaidQuote<Quote>> {
  const { accepts } = JSON.parse(request.quote) as { accepts: PaymentLeg[] }
  const leg = paidLeg(accepts, choice)
  const payReqIds = [request.pay_req_id]
  const payment = await readPayment(seller, tx, [{ request, leg }], payReqIds)
  if (payment.outcome === 'found') return { request, leg, payment }
  const { reason, seen } = payment
  const isRecorded = await seller.recordRefused?.({ request, leg, payReqIds, reason, payment: seen.payment })
  throw paymentRefused(reason, seen, isRecorded)
}

export interface Purchase {
  request: QuoteTime
  /** A leg of the request's quote. */
  leg: QuotedLeg
}

type ReadPayment = ChainPayment | { outcome: 'rejected'; reason: RejectionReason; seen: SeenPayment }

/**
 * Reads a transaction as the payment of purchases with one destination: the payment, if it covers all of them together,
 * or the reason why it does not. `payReqIds` are the quotes that the transaction may reference.
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
 * An expired quote accepts no payments, but a payment that was made in time may be confirmed later. Every other outcome
 * of an expired quote is 410 (AMB-06).
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

interface ProofBody {
  tx_sig?: string
  payer_signature?: string
}

export function payerProof(headers: IncomingHttpHeaders, { tx_sig, payer_signature }: ProofBody): PayerProof {
  const tx = findTransactionId(headers, tx_sig)
  if (tx === null && payer_signature === undefined) throw txRequired()
  return { tx, signature: payer_signature }
}

/** The transaction from the header X402-TX or the body: the first of the two that is well-formed (PAY-42). */
function findTransactionId(headers: IncomingHttpHeaders, txSig: string | undefined): string | null {
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

/**
 * The leg of a quote that a confirmation names, or the first when it names none. A network alone or an asset alone can
 * only mean the first leg (PAY-47).
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

/**
 * `payTo` is the account that receives the money: for tokens of the primary chain the token account, not the wallet.
 */
export function quotedLeg({ network, asset, amount, extra, ...leg }: X402Leg): QuotedLeg {
  const known = NETWORKS.find(({ caip2 }) => caip2 === network)
  if (!known) throw new Error(`a stored quote has the unknown network ${network}`)
  const payTo = extra.token_account ?? leg.payTo
  return { network: known, ticker: extra.name, decimals: extra.decimals, asset, payTo, amount: BigInt(amount) }
}
