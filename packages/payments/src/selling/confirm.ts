// Confirming a payment: from what somebody shows of it to what it bought, or to what the chain shows and can be claimed.

import type { IncomingHttpHeaders } from 'node:http'
import type { PaymentLeg } from '@svc/api/quote'
import type { WireRequest } from '@svc/http-service/wire-request'
import { isClaimSignedBy, receiptClaim, type SignedReceipt } from '@svc/protocol/receipt'
import type { LegChoice } from '../legs.ts'
import type { ChainPayment } from '../payment.ts'
import { paymentRefused, payReqNotFound, txRequired } from './errors.ts'
import { findTransactionId, inQuoteTime, paidLeg, type QuotedLeg, readPayment } from './read-payment.ts'
import type { Seller, StoredQuote } from './seller.ts'

/** A payment as somebody shows it. Without a network and an asset, it paid the first leg of its quote. */
export interface ShownPayment extends LegChoice {
  pay_req_id: string
  proof: PayerProof
}

/** A quote, and the payment of one of its legs that the chain shows. Not claimed yet. */
export interface PaidQuote<Quote> {
  request: Quote
  leg: QuotedLeg
  payment: ChainPayment
}

/**
 * Checks in the order of AMB-86. A paid quote answers what it bought to its payer again, even long after it expired; for
 * any other, the chain must show that the transaction pays it.
 */
export async function readConfirmation<Quote extends StoredQuote, Bought extends { receipt: SignedReceipt }>(
  seller: Seller<Quote, Bought>,
  shown: ShownPayment,
  wire: WireRequest,
): Promise<{ bought: Bought; paid: null } | { bought: null; paid: PaidQuote<Quote> }> {
  const bought = await seller.findBought(shown.pay_req_id)
  if (bought) {
    await requirePayerProof(shown.proof, bought.receipt, seller.confirmUrl, () => seller.limitStranger(wire))
    return { bought, paid: null }
  }
  const tx = requireTransaction(shown.proof)
  const request = await seller.findQuote(shown.pay_req_id)
  if (!request) throw payReqNotFound()
  await seller.limitStranger(wire)
  await seller.requireCurrent?.()
  const paid = await inQuoteTime(seller, [request], () => readLeg(seller, request, shown, tx))
  return { bought: null, paid }
}

/** The leg that was named, and the payment of it that the chain shows. */
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
  const isNoted = await seller.noteRefused?.({ request, leg, payReqIds, reason, payment: seen.payment })
  throw paymentRefused(reason, seen, isNoted)
}

/** What a confirmation shows of the payment: its transaction, the payer's signature, or both. */
export interface PayerProof {
  tx: string | null
  signature: string | undefined
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

/** Without a transaction, a quote that nobody has paid yet cannot be confirmed. */
function requireTransaction({ tx }: PayerProof): string {
  if (tx === null) throw txRequired()
  return tx
}

/**
 * Who may have the receipt of a paid quote again: its id opens files, so knowing the quote is not enough (ADD-13).
 * Throws unless the caller names the transaction that paid or signs as the payer. Whoever does not name it is counted
 * with `limit` first. `confirmUrl` is the address that confirms payments here.
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
