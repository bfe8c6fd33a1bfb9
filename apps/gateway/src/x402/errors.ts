// Errors of the x402 endpoint. Stock clients read PAYMENT-RESPONSE. No error has a PAYMENT-REQUIRED header: a conforming
// client would sign once more, and might pay twice (ADD-02).

import { ServiceError } from '@svc/http-service/service-error'
import type { Network } from '@svc/payments/networks'
import type { Refusal as BudgetRefusal } from '../budgets/budgets.ts'
import type { Refusal } from './settler.ts'

const PAY_YOURSELF = 'POST /v1/storage/request for a quote, pay it yourself, and confirm it with the transaction'

export interface PaymentResponse {
  success: boolean
  /** Empty when nothing was sent. */
  transaction: string
  /** CAIP-2 id. */
  network: string
  payer?: string
  errorReason?: string
}

export function paymentResponse(response: PaymentResponse): { 'payment-response': string } {
  return { 'payment-response': Buffer.from(JSON.stringify(response)).toString('base64') }
}

/** No chain has a key to send payments with. */
export function x402Disabled(): ServiceError {
  return new ServiceError('not_found', 'this gateway does not send signed payments itself', { hint: PAY_YOURSELF })
}

/** No leg of the quote can be settled. */
export function cannotSettle(): ServiceError {
  return new ServiceError('chain_unavailable', 'no payment can be sent for anybody right now', { hint: PAY_YOURSELF })
}

/** Nothing was sent. */
export function notSettled(refusal: Refusal, { caip2 }: Network): ServiceError {
  const errorReason = refusal.why === 'invalid' ? refusal.reason : refusal.why
  const details = { reason: errorReason }
  const headers = paymentResponse({ success: false, transaction: '', network: caip2, errorReason })
  switch (refusal.why) {
    case 'invalid':
      return new ServiceError(
        'payment_verification_failed',
        'what was signed does not pay this quote; nothing was sent',
        {
          details,
          headers,
        },
      )
    case 'unavailable':
      return new ServiceError('chain_unavailable', 'the chain cannot be asked right now; nothing was sent', {
        hint: 'repeat the request with the same PAYMENT-SIGNATURE in a few seconds',
        details,
        headers: { ...headers, 'retry-after': '5' },
      })
    case 'unfunded':
      return new ServiceError(
        'chain_unavailable',
        'this gateway cannot pay the network fee right now; nothing was sent',
        { hint: `tell its operator, or ${PAY_YOURSELF}`, details, headers: { ...headers, 'retry-after': '300' } },
      )
  }
}

/** Nothing was sent: too many payments of this payer, from this address or of this day have failed. */
export function tooManyFailed({ reason, until }: BudgetRefusal, { caip2 }: Network, now: number): ServiceError {
  const seconds = Math.max(until - now, 1)
  const headers = {
    ...paymentResponse({ success: false, transaction: '', network: caip2, errorReason: reason }),
    'retry-after': `${seconds}`,
  }
  if (reason === 'daily_budget_used') {
    return new ServiceError('chain_unavailable', 'this gateway sends no more payments today; nothing was sent', {
      hint: PAY_YOURSELF,
      details: { reason },
      headers,
    })
  }
  return new ServiceError('RATE_LIMITED', 'too many payments were sent and did not pay; nothing was sent', {
    hint: `try again in ${seconds} s, or ${PAY_YOURSELF}`,
    details: { reason, retry_after_seconds: seconds },
    headers,
  })
}

/** The payment was sent, and its outcome is not known yet. */
export function settlementPending({ caip2 }: Network, tx: string): ServiceError {
  const errorReason = 'settlement_pending'
  return new ServiceError('chain_unavailable', 'the payment was sent, and the chain does not show it yet', {
    hint: 'do not sign again: repeat the request with the same PAYMENT-SIGNATURE',
    details: { reason: errorReason, transaction: tx },
    headers: {
      ...paymentResponse({ success: false, transaction: tx, network: caip2, errorReason }),
      'retry-after': '5',
    },
  })
}
