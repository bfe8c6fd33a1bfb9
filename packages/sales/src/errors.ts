// Refusals that a confirmation may get.

import { ServiceError } from '@svc/http-service/service-error'
import type { Network } from '@svc/payments/networks'
import type { RejectionReason } from '@svc/payments/payment'

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

const HINTS: { [reason in RejectionReason]?: string } = {
  quote_already_paid:
    'its payer gets the receipt by naming the transaction that paid, or with payer_signature; a second payment is not taken: ask the operator to return it',
}

/** None of these carries PAYMENT-REQUIRED: a stock client would pay a second time (ADD-02). */
export function paymentRefused(reason: RejectionReason): ServiceError {
  const hint = HINTS[reason]
  return new ServiceError('payment_verification_failed', REASONS[reason], {
    details: { reason },
    ...(hint && { hint }),
  })
}

export function txRequired(): ServiceError {
  return new ServiceError('tx_required', 'name the transaction that paid', {
    hint: 'send header X402-TX, or tx_sig in the body: a base58 signature of 64 bytes, or 0x and 64 hex characters',
  })
}

export function payReqNotFound(details?: { pay_req_ids: string[] }): ServiceError {
  return new ServiceError('pay_req_not_found', 'there is no quote with this pay_req_id', {
    hint: 'ask for a quote, and send the pay_req_id that is in it',
    ...(details && { details }),
  })
}

export function txNotFound({ family }: Network): ServiceError {
  const seconds = family === 'evm' ? 5 : 2
  return new ServiceError('tx_not_found', 'the chain does not show this transaction yet', {
    hint: `do not pay again: confirm again in ${seconds} seconds, then with growing pauses`,
    headers: { 'retry-after': String(seconds) },
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

export function quoteExpired(): ServiceError {
  return new ServiceError('quote_expired', 'this quote has expired, and no payment in its time is known', {
    hint: 'if you paid in time, confirm with that transaction; otherwise ask for a new quote',
  })
}
