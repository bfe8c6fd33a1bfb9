// The errors of a confirmation.

import type { Network } from '@svc/api/networks'
import { isoSeconds } from '@svc/protocol/evidence'
import { ServiceError } from '@svc/service/service-error'
import { displayAmount } from '../amounts.ts'
import type { ChainPayment, RejectionReason } from '../payment.ts'

const REASONS: Record<RejectionReason, string> = {
  wrong_transaction_form: "this is not a transaction id of the leg's chain",
  transaction_failed: 'the transaction failed on chain: nothing was paid',
  nothing_received: 'the transaction paid nothing of this asset to this destination',
  payer_unclear: 'the payer is unclear: one payer must have signed for the whole amount',
  amount_too_small: 'the transaction paid less than the quote requires',
  before_quote: 'the transaction is older than the quote',
  after_quote: 'the transaction came after the quote had expired',
  names_another_quote: 'the transaction references another quote in its memo or calldata',
  transaction_already_used: 'the transaction has already paid for another purchase',
  quote_already_paid: 'this quote is already paid by another transaction',
}

const OTHER_LEG = 'for a leg other than the first, send its pay_network and pay_asset with the confirmation'

const HINTS: Record<RejectionReason, string> = {
  wrong_transaction_form: OTHER_LEG,
  transaction_failed: 'pay again with another transaction while the quote is valid, and confirm with that one',
  nothing_received: `compare the transaction with asset and payTo of the leg in accepts; ${OTHER_LEG}`,
  payer_unclear:
    "pay from one wallet that signs for its own coins; ask the service's admin for a refund of what you sent",
  amount_too_small:
    "one transaction must pay the whole amount: pay the quote in full with another one; ask the service's admin for a refund of what you sent",
  before_quote: 'a payment must be newer than its quote: confirm the quote that it was made for',
  after_quote: "request a new quote and pay that; ask the service's admin for a refund of what you sent",
  names_another_quote: 'confirm the quote that the transaction references',
  transaction_already_used: 'each purchase needs its own transaction: confirm with the one that paid this quote',
  quote_already_paid:
    "the payer gets the receipt by naming the transaction that paid, or with payer_signature; a second payment is not accepted: ask the service's admin to refund it",
}

/** The expected payment, and what the transaction shows. */
export interface SeenPayment {
  leg: { network: Network; ticker: string; decimals: number; payTo: string }
  /** The amount that it should have paid, in atomic units. */
  amount: bigint
  /** When the quote was made and expired, in Unix seconds. */
  quote: { created_at: number; expires_at: number }
  /** Null when the chain shows no payment to the leg's destination. */
  payment: ChainPayment | null
}

const ASK_ADMIN = "ask the service's admin to refund it, and name this transaction"
const RECORDED = `this payment is recorded for refund: ${ASK_ADMIN}`

/**
 * None of these carries PAYMENT-REQUIRED: a stock client would pay a second time (ADD-02). `isRecorded` means that the
 * payment is recorded for the admin.
 */
export function paymentRefused(reason: RejectionReason, seen?: SeenPayment, isRecorded = false): ServiceError {
  const { message = REASONS[reason], details } = (seen && describeObservation(reason, seen)) ?? {}
  return new ServiceError('payment_verification_failed', message, {
    hint: isRecorded ? `pay the quote in full with another transaction; ${RECORDED}` : HINTS[reason],
    details: { reason, ...details, ...(isRecorded && { noted_for_refund: true }) },
  })
}

const RECEIPT_IS_FOR = 'to get the receipt, name the transaction that paid, or send payer_signature'

/** The quote is already paid, and the caller's transaction has paid it again. */
export function secondPaymentRefused(): ServiceError {
  const reason: RejectionReason = 'quote_already_paid'
  return new ServiceError(
    'payment_verification_failed',
    'this quote is already paid: this transaction is a second payment',
    {
      hint: `do not pay again; ${RECORDED}; ${RECEIPT_IS_FOR}`,
      details: { reason, noted_for_refund: true },
    },
  )
}

/** The quote is already paid, and the chain does not show the caller's transaction. */
export function secondPaymentUnseen(): ServiceError {
  const reason: RejectionReason = 'quote_already_paid'
  return new ServiceError('payment_verification_failed', REASONS[reason], {
    hint: `do not pay again; if you sent this transaction for the quote, confirm it again once the chain shows it, so that it is recorded for refund; ${RECEIPT_IS_FOR}`,
    details: { reason },
  })
}

/** For a batch, which gets no receipts. */
export function someQuotesPaid(payReqIds: readonly string[]): ServiceError {
  const reason: RejectionReason = 'quote_already_paid'
  return new ServiceError(
    'payment_verification_failed',
    'some of these quotes are already paid by other transactions',
    {
      hint: 'do not pay again: confirm the others with the same transaction, in a batch without those in details; the rest of the payment is recorded for refund',
      details: { reason, pay_req_ids: payReqIds },
    },
  )
}

export function isQuotePaid(error: unknown): boolean {
  return error instanceof ServiceError && reasonIn(error) === 'quote_already_paid'
}

function reasonIn(error: ServiceError): unknown {
  return error.body('').details?.reason
}

type Observation = { message: string; details: Record<string, unknown> }

function describeObservation(
  reason: RejectionReason,
  { leg, amount, quote, payment }: SeenPayment,
): Observation | null {
  const { ticker, decimals, network, payTo } = leg
  const display = (units: bigint) => `${displayAmount(units, decimals)} ${ticker}`
  const where = { pay_network: network.name, pay_asset: ticker, pay_to: payTo }
  const time = payment?.blockTime ?? null
  switch (reason) {
    case 'wrong_transaction_form':
      return { message: `${REASONS[reason]}, ${network.name}`, details: where }
    case 'nothing_received':
      return { message: `the transaction paid no ${ticker} to ${payTo} on ${network.name}`, details: where }
    case 'amount_too_small': {
      const received = payment?.received ?? 0n
      const message = `the transaction paid ${display(received)}, but the quote requires ${display(amount)}: ${display(amount - received)} is missing`
      return { message, details: { ...where, received: String(received), required: String(amount) } }
    }
    case 'before_quote':
      if (time === null) return null
      return {
        message: `the transaction is ${quote.created_at - time} s older than the quote`,
        details: { paid_at: isoSeconds(time), quote_created_at: isoSeconds(quote.created_at) },
      }
    case 'after_quote':
      if (time === null) return null
      return {
        message: `the transaction came ${time - quote.expires_at} s after the quote had expired`,
        details: { paid_at: isoSeconds(time), quote_expires_at: isoSeconds(quote.expires_at) },
      }
    default:
      return null
  }
}

export function txRequired(): ServiceError {
  return new ServiceError('tx_required', 'the transaction that paid is missing', {
    hint: 'send header X402-TX, or tx_sig in the body: a base58 signature of 64 bytes, or 0x and 64 hex characters',
  })
}

export function payReqNotFound(details?: { pay_req_ids: string[] }): ServiceError {
  return new ServiceError('pay_req_not_found', 'no quote has this pay_req_id', {
    hint: 'request a quote, and send its pay_req_id',
    ...(details && { details }),
  })
}

export function txNotFound({ family, name }: Network): ServiceError {
  const seconds = family === 'evm' ? 5 : 2
  const replaced = family === 'evm' ? ', and whether the wallet replaced it: then confirm the replacement' : ''
  return new ServiceError('tx_not_found', `${name} does not show this transaction yet`, {
    hint: `do not pay again: confirm again in ${seconds} seconds, then with growing pauses; if it never appears, check that it was sent to ${name}${replaced}`,
    headers: { 'retry-after': String(seconds) },
  })
}

/** Used when nothing was sent, or when the status is unknown: the caller may ask again and send the payment again. */
export function chainUnreachable(): ServiceError {
  return new ServiceError('chain_unavailable', 'the chain cannot be reached at the moment', {
    hint: 'send the same request again in a few seconds; earlier signatures and payments stay valid',
    headers: { 'retry-after': '5' },
  })
}

export function chainUnavailable(): ServiceError {
  return new ServiceError(
    'chain_unavailable',
    'the chain cannot be reached at the moment, so the status of the payment is unknown',
    {
      hint: 'do not pay again: confirm again in a few seconds',
      headers: { 'retry-after': '5' },
    },
  )
}

/** Times in Unix seconds. `refusal` is the reason why the caller's transaction does not pay the quote. */
export function quoteExpired(expiresAt: number, now: number, refusal?: ServiceError): ServiceError {
  const { reason, noted_for_refund } = refusal?.body('').details ?? {}
  const isLate = reason === 'after_quote'
  const known = isLate ? refusal?.message : 'no payment was found that was made in time'
  const refund = noted_for_refund ? RECORDED : "for a refund, ask the service's admin, and name this transaction"
  return new ServiceError('quote_expired', `this quote expired ${now - expiresAt} s ago, and ${known}`, {
    hint:
      isLate || noted_for_refund
        ? `do not pay this quote again; ${refund}; to buy, request a new quote`
        : 'if you paid in time, confirm with that transaction; otherwise request a new quote',
    details: {
      expired_at: isoSeconds(expiresAt),
      ...(isLate && { reason }),
      ...(noted_for_refund === true && { noted_for_refund }),
    },
  })
}
