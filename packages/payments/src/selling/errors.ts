// Refusals that a confirmation may get.

import type { Network } from '@svc/api/networks'
import { isoSeconds } from '@svc/protocol/evidence'
import { ServiceError } from '@svc/service/service-error'
import { displayAmount } from '../amounts.ts'
import type { ChainPayment, RejectionReason } from '../payment.ts'

const REASONS: Record<RejectionReason, string> = {
  wrong_transaction_form: 'this is not a transaction of the chain that the leg is paid on',
  transaction_failed: 'the transaction failed on chain: nothing was paid',
  nothing_received: 'the transaction paid nothing of this asset to this destination',
  payer_unclear: 'it is not clear who paid: one payer must have signed for the whole amount',
  amount_too_small: 'the transaction paid less than the quote asks',
  before_quote: 'the transaction is older than the quote',
  after_quote: 'the transaction came after the quote had expired',
  names_another_quote: 'the transaction names another quote in its memo or calldata',
  transaction_already_used: 'the transaction has paid for something else already',
  quote_already_paid: 'this quote is paid already, and not by what was shown',
}

const OTHER_LEG = 'for another leg than the first, send its pay_network and pay_asset with the confirmation'

const HINTS: Record<RejectionReason, string> = {
  wrong_transaction_form: OTHER_LEG,
  transaction_failed: 'pay again with another transaction while the quote lasts, and confirm with that one',
  nothing_received: `compare the transaction with asset and payTo of the leg in accepts; ${OTHER_LEG}`,
  payer_unclear: 'pay from one wallet that signs for its own coins; ask the operator about what was sent',
  amount_too_small:
    'one transaction must pay the whole amount: pay the quote in full with another one; ask the operator about what was sent',
  before_quote: 'a payment counts for a quote that is older than it: confirm the quote that it was made for',
  after_quote: 'ask for a new quote and pay that; ask the operator about what was sent',
  names_another_quote: 'confirm the quote that the transaction names',
  transaction_already_used: 'each purchase takes a transaction of its own: confirm with the one that paid this quote',
  quote_already_paid:
    'its payer gets the receipt by naming the transaction that paid, or with payer_signature; a second payment is not taken: ask the operator to return it',
}

/** What a transaction was looked at for, and what it showed. */
export interface SeenPayment {
  leg: { network: Network; ticker: string; decimals: number; payTo: string }
  /** What it should have paid, in atomic units. */
  amount: bigint
  /** When it was made and expired, in Unix seconds. */
  quote: { created_at: number; expires_at: number }
  /** Null where the chain shows no payment to the leg's destination. */
  payment: ChainPayment | null
}

const ASK_OPERATOR = 'ask the operator to return it, and name this transaction'
const NOTED = `it is noted for refund: ${ASK_OPERATOR}`

/**
 * None of these carries PAYMENT-REQUIRED: a stock client would pay a second time (ADD-02). `isNoted` is a payment that the
 * operator is told of.
 */
export function paymentRefused(reason: RejectionReason, seen?: SeenPayment, isNoted = false): ServiceError {
  const { message = REASONS[reason], details } = (seen && describeSeen(reason, seen)) ?? {}
  return new ServiceError('payment_verification_failed', message, {
    hint: isNoted ? `pay the quote in full with another one; as for what was sent, ${NOTED}` : HINTS[reason],
    details: { reason, ...details, ...(isNoted && { noted_for_refund: true }) },
  })
}

const RECEIPT_IS_FOR = 'the receipt is for who names the transaction that paid, or sends payer_signature'

/** The quote is paid, and the transaction that was shown has paid it once more. */
export function secondPaymentRefused(): ServiceError {
  const reason: RejectionReason = 'quote_already_paid'
  return new ServiceError(
    'payment_verification_failed',
    'this quote is paid already: what was shown is a second payment',
    {
      hint: `do not pay again; ${NOTED}; ${RECEIPT_IS_FOR}`,
      details: { reason, noted_for_refund: true },
    },
  )
}

/** The quote is paid, and the chain does not show what else was sent for it. */
export function secondPaymentUnseen(): ServiceError {
  const reason: RejectionReason = 'quote_already_paid'
  return new ServiceError('payment_verification_failed', REASONS[reason], {
    hint: `do not pay again; if you sent this transaction for the quote, confirm it again once the chain shows it, and it is noted for refund; ${RECEIPT_IS_FOR}`,
    details: { reason },
  })
}

/** Of a batch, which gets no receipts. */
export function someQuotesPaid(payReqIds: readonly string[]): ServiceError {
  const reason: RejectionReason = 'quote_already_paid'
  return new ServiceError(
    'payment_verification_failed',
    'some of these quotes are paid already, by other transactions',
    {
      hint: 'do not pay again: confirm the others with the same transaction, in a batch without those in details; what it leaves is noted for refund',
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

type Seen = { message: string; details: Record<string, unknown> }

function describeSeen(reason: RejectionReason, { leg, amount, quote, payment }: SeenPayment): Seen | null {
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
      const message = `the transaction paid ${display(received)}, and ${display(amount)} are asked: ${display(amount - received)} are missing`
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
  return new ServiceError('tx_required', 'name the transaction that paid', {
    hint: 'send header X402-TX, or tx_sig in the body: a base58 signature of 64 bytes, or 0x and 64 hex characters',
  })
}

export function payReqNotFound(details?: { pay_req_ids: string[] }): ServiceError {
  return new ServiceError('pay_req_not_found', 'no quote has this pay_req_id', {
    hint: 'ask for a quote, and send the pay_req_id that is in it',
    ...(details && { details }),
  })
}

export function txNotFound({ family, name }: Network): ServiceError {
  const seconds = family === 'evm' ? 5 : 2
  const replaced = family === 'evm' ? ', and whether the wallet has replaced it: then confirm the one in its place' : ''
  return new ServiceError('tx_not_found', `${name} does not show this transaction yet`, {
    hint: `do not pay again: confirm again in ${seconds} seconds, then with growing pauses; if it never shows, see that it was sent to ${name}${replaced}`,
    headers: { 'retry-after': String(seconds) },
  })
}

/** Nothing was sent, or it is not known whether it was: a payment can be asked about and sent again. */
export function chainSilent(): ServiceError {
  return new ServiceError('chain_unavailable', 'the chain cannot be asked right now', {
    hint: 'try the same again in a few seconds; what was signed or sent before stays as it is',
    headers: { 'retry-after': '5' },
  })
}

export function chainUnavailable(): ServiceError {
  return new ServiceError(
    'chain_unavailable',
    'the chain cannot be asked right now; nothing is decided about the payment',
    {
      hint: 'do not pay again: confirm again in a few seconds',
      headers: { 'retry-after': '5' },
    },
  )
}

/** Times in Unix seconds. `refusal` is why the transaction that was shown does not pay it. */
export function quoteExpired(expiresAt: number, now: number, refusal?: ServiceError): ServiceError {
  const { reason, noted_for_refund } = refusal?.body('').details ?? {}
  const isLate = reason === 'after_quote'
  const known = isLate ? refusal?.message : 'no payment in its time is known'
  const sent = noted_for_refund ? NOTED : ASK_OPERATOR
  return new ServiceError('quote_expired', `this quote expired ${now - expiresAt} s ago, and ${known}`, {
    hint:
      isLate || noted_for_refund
        ? `do not pay this quote again; as for what was sent, ${sent}; ask for a new quote to buy`
        : 'if you paid in time, confirm with that transaction; otherwise ask for a new quote',
    details: {
      expired_at: isoSeconds(expiresAt),
      ...(isLate && { reason }),
      ...(noted_for_refund === true && { noted_for_refund }),
    },
  })
}
