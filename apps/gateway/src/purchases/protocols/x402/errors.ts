// Errors of the x402 endpoint. Stock clients read PAYMENT-RESPONSE. Only a permanent rejection includes a new
// PAYMENT-REQUIRED: after any other error, a conforming client that signs again might pay twice (ADD-02).

import { type Network, networkNamed } from '@svc/api/networks'
import type { X402Leg } from '@svc/api/x402'
import { displayAmount } from '@svc/payments/amounts'
import { isoSeconds } from '@svc/protocol/evidence'
import { type ErrorExtras, ServiceError } from '@svc/service/service-error'
import type { Refusal as BudgetRefusal } from '../../../budgets/budgets.ts'
import type { Refusal } from './settler.ts'

const PAY_YOURSELF =
  'request a quote with POST /v1/storage/request, pay it yourself, and confirm it with the transaction'
/** Payments also arrive by the Machine Payments Protocol, which uses another header. */
const SAME_SIGNATURE = 'repeat the request with the same PAYMENT-SIGNATURE or Authorization'

export interface PaymentResponse {
  success: boolean
  /** Empty when nothing was sent. */
  transaction: string
  /** CAIP-2 id. */
  network: string
  payer?: string
  errorReason?: string
  extensions?: Record<string, { info: object }>
}

export function paymentResponse(response: PaymentResponse): { 'payment-response': string } {
  return { 'payment-response': Buffer.from(JSON.stringify(response)).toString('base64') }
}

/** No chain has a key to send payments. */
export function x402Disabled(): ServiceError {
  return new ServiceError('not_found', 'this gateway does not send signed payments', { hint: PAY_YOURSELF })
}

/** No leg of the quote can be settled. */
export function cannotSettle(): ServiceError {
  return new ServiceError('chain_unavailable', 'the gateway cannot submit payments at the moment', {
    hint: PAY_YOURSELF,
  })
}

export function malformedPayment(problem: string): ServiceError {
  return new ServiceError('malformed_payment', `PAYMENT-SIGNATURE ${problem}`, {
    hint: 'send the base64-encoded JSON of an x402 version 2 client; a request without the header returns the payment to sign',
    details: { header: 'PAYMENT-SIGNATURE' },
  })
}

/** Version 1 named its header X-PAYMENT. */
export function onlyVersion2(what: string): ServiceError {
  return new ServiceError('malformed_payment', `${what} belongs to x402 version 1, but only version 2 is supported`, {
    hint: `use a client of x402 version 2, which sends PAYMENT-SIGNATURE; or ${PAY_YOURSELF}`,
    details: { x402_version: 2 },
  })
}

/** The signed payment can never pay: nothing was sent, and nothing will be. The client may sign again. */
export class PaymentRefused extends ServiceError {
  override name = 'PaymentRefused'
  readonly reason: string
  readonly #extras: ErrorExtras

  constructor(reason: string, message: string, extras: ErrorExtras) {
    super('payment_verification_failed', message, extras)
    this.reason = reason
    this.#extras = extras
  }

  /** The same error with a new offer to sign, as PAYMENT-REQUIRED. */
  offering(paymentRequired: string): PaymentRefused {
    const headers = { ...this.headers, 'payment-required': paymentRequired }
    return new PaymentRefused(this.reason, this.message, { ...this.#extras, headers })
  }
}

/** Nothing was sent. */
export function notSettled(refusal: Refusal, leg: X402Leg): ServiceError {
  switch (refusal.why) {
    case 'invalid': {
      const { reason, problem = PROBLEMS[reason] } = refusal
      return refused(reason, leg, {
        message: `the signed payment does not pay this quote; nothing was sent${problem ? `: ${problem}` : ''}`,
        hint: 'sign an unmodified entry of accepts or challenge, and repeat the request with that signature',
      })
    }
    case 'used':
      return usedBefore(refusal.reason, leg)
    case 'insufficient_funds':
      return insufficientFunds(refusal, leg)
    case 'unavailable':
      return new ServiceError('chain_unavailable', 'the chain cannot be reached at the moment; nothing was sent', {
        hint: `${SAME_SIGNATURE} in a few seconds`,
        ...reasonOf('unavailable', leg, { 'retry-after': '5' }),
      })
    case 'unfunded':
      return new ServiceError(
        'chain_unavailable',
        'the gateway cannot pay the network fee at the moment; nothing was sent',
        {
          hint: `contact the gateway's admin, or ${PAY_YOURSELF}`,
          ...reasonOf('unfunded', leg, { 'retry-after': '300' }),
        },
      )
  }
}

/** Messages for the error codes of stock facilitators and the gateway. */
const PROBLEMS: Record<string, string> = {
  leg_not_in_quote: 'the signed entry of accepts is not in the quote',
  leg_not_signable: 'this leg of the quote must be paid with your own transaction',
  payer_unclear: 'the tokens belong to an owner other than the signer',
  payer_is_a_contract: 'a contract cannot own a locker because it cannot sign requests',
  transaction_already_used: 'this payment has already paid another quote',
  quote_already_paid: 'another payer has already paid this quote',
  authorization_valid_too_long: 'the authorization must not be valid for more than 7 days',
  invalid_exact_evm_payload_authorization_valid_before: 'the authorization has expired or will expire before it lands',
  invalid_exact_evm_payload_authorization_valid_after: 'the authorization is not valid yet: check your clock',
  invalid_exact_evm_transaction_simulation_failed:
    'the token contract would reject the transfer: its issuer may have paused it or blocked the payer or the recipient',
  invalid_exact_evm_signature: "the signature is not the payer's",
  invalid_exact_svm_payload_memo_mismatch: "the memo is not the one in the leg's extra",
}

/** Without an offer: the used signature may have paid, and a second one might pay twice (T-67). */
function usedBefore(reason: string, leg: X402Leg): ServiceError {
  const message = 'this signed payment was already used, but no payment of this quote was found; nothing was sent'
  return new ServiceError('payment_verification_failed', message, {
    hint: "do not sign again; find the transaction that used it, then send it to POST /v1/storage/confirm or contact the gateway's admin",
    ...reasonOf(reason, leg),
  })
}

function insufficientFunds(
  { payer, available }: Extract<Refusal, { why: 'insufficient_funds' }>,
  leg: X402Leg,
): ServiceError {
  const { name, decimals, human_amount } = leg.extra
  const network = networkNamed(leg.network)?.name ?? leg.network
  const balance = displayAmount(available ?? 0n, decimals)
  const has = available === null ? `has no token account for ${name}, and so no ${name}` : `has ${balance} ${name}`
  const message = `${payer} ${has} on ${network}, but the quote costs ${human_amount}; nothing was sent`
  const missing = displayAmount(BigInt(leg.amount) - (available ?? 0n), decimals)
  return refused('insufficient_funds', leg, {
    message,
    hint: `send ${missing} ${name} (${leg.asset}) to ${payer} on ${network}, wait until it has arrived, and ${SAME_SIGNATURE} or sign again; the gateway pays the network fee`,
    details: {
      payer,
      asset: leg.asset,
      pay_asset: name,
      network,
      required: leg.amount,
      available: String(available ?? 0n),
      has_token_account: available !== null,
    },
  })
}

interface RefusalText {
  message: string
  hint: string
  details?: Record<string, unknown>
}

function refused(reason: string, leg: X402Leg, { message, hint, details }: RefusalText): PaymentRefused {
  const { headers, details: named } = reasonOf(reason, leg)
  return new PaymentRefused(reason, message, { hint, details: { ...named, ...details }, headers })
}

function reasonOf(reason: string, { network }: Pick<X402Leg, 'network'>, more: Record<string, string> = {}) {
  const response = paymentResponse({ success: false, transaction: '', network, errorReason: reason })
  return { details: { reason } as Record<string, unknown>, headers: { ...response, ...more } }
}

/** Nothing was sent: too many payments of this payer, from this address or on this day have failed. */
export function tooManyFailed({ reason, until }: BudgetRefusal, { caip2 }: Network, now: number): ServiceError {
  const seconds = Math.max(until - now, 1)
  const { headers } = reasonOf(reason, { network: caip2 }, { 'retry-after': `${seconds}` })
  if (reason === 'daily_budget_used') {
    return new ServiceError(
      'chain_unavailable',
      'the gateway has reached its daily limit for payments; nothing was sent',
      {
        hint: PAY_YOURSELF,
        details: { reason },
        headers,
      },
    )
  }
  return new ServiceError('RATE_LIMITED', 'too many payments have failed; nothing was sent', {
    hint: `try again in ${seconds} s, or ${PAY_YOURSELF}`,
    details: { reason, retry_after_seconds: seconds },
    headers,
  })
}

/** The payment was sent, and its outcome is not known yet. */
export function settlementPending({ caip2 }: Network, tx: string): ServiceError {
  const errorReason = 'settlement_pending'
  return new ServiceError('chain_unavailable', 'the payment was sent, but it is not on the chain yet', {
    hint: `do not sign again: ${SAME_SIGNATURE}`,
    details: { reason: errorReason, transaction: tx },
    headers: {
      ...paymentResponse({ success: false, transaction: tx, network: caip2, errorReason }),
      'retry-after': '5',
    },
  })
}

/** A payment that failed but can still be sent by anyone. Without an offer: a second payment might pay twice. */
export interface OpenPayment {
  /** The transaction of the last attempt. */
  tx: string
  /** Unix seconds. */
  until: number
}

export function paymentFailed({ caip2: network }: Network, { tx, until }: OpenPayment): ServiceError {
  const reason = 'transaction_failed'
  return new ServiceError('payment_verification_failed', 'the payment was sent and failed on chain; nothing was paid', {
    hint: `the signed payment remains valid until ${isoSeconds(until)}: make sure that the wallet holds the amount, and ${SAME_SIGNATURE}; do not sign another payment`,
    details: { reason, transaction: tx, valid_until: isoSeconds(until) },
    headers: paymentResponse({ success: false, transaction: tx, network, errorReason: reason }),
  })
}

export function earlierPaymentOpen({ caip2: network }: Network, { tx, until }: OpenPayment): ServiceError {
  const reason = 'earlier_payment_open'
  const message = 'an earlier payment of this quote failed but can still be sent, so a second one might pay twice'
  return new ServiceError('payment_verification_failed', message, {
    hint: `repeat the request with the first PAYMENT-SIGNATURE or Authorization, cancel the signed authorization on chain, or wait until ${isoSeconds(until)} and request a new quote`,
    details: { reason, transaction: tx, valid_until: isoSeconds(until) },
    headers: paymentResponse({ success: false, transaction: '', network, errorReason: reason }),
  })
}
