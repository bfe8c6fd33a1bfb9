// Errors of the x402 endpoint. Stock clients read PAYMENT-RESPONSE. Only what is refused for good comes with a new
// PAYMENT-REQUIRED: after any other error, a conforming client that signs once more might pay twice (ADD-02).

import { type Network, networkNamed } from '@svc/api/networks'
import type { X402Leg } from '@svc/api/x402'
import { displayAmount } from '@svc/payments/amounts'
import { isoSeconds } from '@svc/protocol/evidence'
import { type ErrorExtras, ServiceError } from '@svc/service/service-error'
import type { Refusal as BudgetRefusal } from '../../../budgets/budgets.ts'
import type { Refusal } from './settler.ts'

const PAY_YOURSELF = 'POST /v1/storage/request for a quote, pay it yourself, and confirm it with the transaction'
/** Payments also come by the Machine Payments Protocol, whose header is another one. */
const SAME_SIGNATURE = 'repeat the request with the same PAYMENT-SIGNATURE, or Authorization'

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

/** No chain has a key to send payments with. */
export function x402Disabled(): ServiceError {
  return new ServiceError('not_found', 'this gateway does not send signed payments itself', { hint: PAY_YOURSELF })
}

/** No leg of the quote can be settled. */
export function cannotSettle(): ServiceError {
  return new ServiceError('chain_unavailable', 'no payment can be sent for anybody right now', { hint: PAY_YOURSELF })
}

export function malformedPayment(problem: string): ServiceError {
  return new ServiceError('malformed_payment', `PAYMENT-SIGNATURE ${problem}`, {
    hint: 'send base64 of the JSON that an x402 version 2 client makes; without the header, the answer says what to sign',
    details: { header: 'PAYMENT-SIGNATURE' },
  })
}

/** Version 1 named its header X-PAYMENT. */
export function onlyVersion2(what: string): ServiceError {
  return new ServiceError('malformed_payment', `${what} is of x402 version 1, and only version 2 is spoken here`, {
    hint: `use a client of x402 version 2, which sends PAYMENT-SIGNATURE; or ${PAY_YOURSELF}`,
    details: { x402_version: 2 },
  })
}

/** What was signed never pays: nothing was sent, and nothing will be. The client may sign again. */
export class PaymentRefused extends ServiceError {
  override name = 'PaymentRefused'
  readonly reason: string
  readonly #extras: ErrorExtras

  constructor(reason: string, message: string, extras: ErrorExtras) {
    super('payment_verification_failed', message, extras)
    this.reason = reason
    this.#extras = extras
  }

  /** The same refusal, with what to sign next, as PAYMENT-REQUIRED holds it. */
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
        message: `what was signed does not pay this quote; nothing was sent${problem ? `: ${problem}` : ''}`,
        hint: 'sign for an entry of accepts or a challenge as it is, and repeat the request with that signature',
      })
    }
    case 'used':
      return usedBefore(refusal.reason, leg)
    case 'insufficient_funds':
      return insufficientFunds(refusal, leg)
    case 'unavailable':
      return new ServiceError('chain_unavailable', 'the chain cannot be asked right now; nothing was sent', {
        hint: `${SAME_SIGNATURE} in a few seconds`,
        ...reasonOf('unavailable', leg, { 'retry-after': '5' }),
      })
    case 'unfunded':
      return new ServiceError(
        'chain_unavailable',
        'this gateway cannot pay the network fee right now; nothing was sent',
        { hint: `tell its operator, or ${PAY_YOURSELF}`, ...reasonOf('unfunded', leg, { 'retry-after': '300' }) },
      )
  }
}

/** What stock facilitators and the gateway object to, in words. */
const PROBLEMS: Record<string, string> = {
  leg_not_in_quote: 'the entry of accepts that was signed for is not in the quote',
  leg_not_signable: 'the quote of that leg is one to pay with a transaction of your own',
  payer_unclear: 'the tokens belong to another owner than the one who signed',
  payer_is_a_contract: 'a contract cannot own a locker, because it cannot sign requests',
  transaction_already_used: 'this payment has paid another quote',
  quote_already_paid: 'this quote is paid already, by somebody else',
  authorization_valid_too_long: 'the authorization must not be valid for more than 7 days',
  invalid_exact_evm_payload_authorization_valid_before: 'the authorization has expired, or will before it lands',
  invalid_exact_evm_payload_authorization_valid_after: 'the authorization is not valid yet: check your clock',
  invalid_exact_evm_transaction_simulation_failed:
    'the token would refuse the transfer: its issuer may have paused it, or block the payer or the recipient',
  invalid_exact_evm_signature: 'the signature is not of the payer',
  invalid_exact_svm_payload_memo_mismatch: "the memo is not the one in the leg's extra",
}

/** Without an offer: what was signed may have paid, and a second signature might pay twice (T-67). */
function usedBefore(reason: string, leg: X402Leg): ServiceError {
  const message = 'what was signed was used before, and no payment of this quote by it is found; nothing was sent'
  return new ServiceError('payment_verification_failed', message, {
    hint: 'do not sign again: look for the transaction that used it, and POST /v1/storage/confirm with it or tell the operator',
    ...reasonOf(reason, leg),
  })
}

function insufficientFunds(
  { payer, available }: Extract<Refusal, { why: 'insufficient_funds' }>,
  leg: X402Leg,
): ServiceError {
  const { name, decimals, human_amount } = leg.extra
  const network = networkNamed(leg.network)?.name ?? leg.network
  const held = displayAmount(available ?? 0n, decimals)
  const has = available === null ? `has no token account for ${name}, and so no ${name}` : `has ${held} ${name}`
  const message = `${payer} ${has} on ${network}, and the quote asks for ${human_amount}; nothing was sent`
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

/** Nothing was sent: too many payments of this payer, from this address or of this day have failed. */
export function tooManyFailed({ reason, until }: BudgetRefusal, { caip2 }: Network, now: number): ServiceError {
  const seconds = Math.max(until - now, 1)
  const { headers } = reasonOf(reason, { network: caip2 }, { 'retry-after': `${seconds}` })
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
    hint: `do not sign again: ${SAME_SIGNATURE}`,
    details: { reason: errorReason, transaction: tx },
    headers: {
      ...paymentResponse({ success: false, transaction: tx, network: caip2, errorReason }),
      'retry-after': '5',
    },
  })
}

/** A payment that did not go through and that anybody may still send. Without an offer: a second one might pay twice. */
export interface OpenPayment {
  /** Of the last attempt. */
  tx: string
  /** Unix seconds. */
  until: number
}

export function paymentFailed({ caip2: network }: Network, { tx, until }: OpenPayment): ServiceError {
  const reason = 'transaction_failed'
  return new ServiceError('payment_verification_failed', 'the payment was sent and failed on chain: nothing was paid', {
    hint: `what you signed can still pay until ${isoSeconds(until)}: see that the wallet holds the amount, and ${SAME_SIGNATURE}; do not sign another`,
    details: { reason, transaction: tx, valid_until: isoSeconds(until) },
    headers: paymentResponse({ success: false, transaction: tx, network, errorReason: reason }),
  })
}

export function earlierPaymentOpen({ caip2: network }: Network, { tx, until }: OpenPayment): ServiceError {
  const reason = 'earlier_payment_open'
  const message = 'an earlier payment of this quote failed and can still be sent; a second one might pay twice'
  return new ServiceError('payment_verification_failed', message, {
    hint: `repeat the request with the PAYMENT-SIGNATURE, or Authorization, that came first; or cancel that authorization; or wait until ${isoSeconds(until)} and ask for a new quote`,
    details: { reason, transaction: tx, valid_until: isoSeconds(until) },
    headers: paymentResponse({ success: false, transaction: '', network, errorReason: reason }),
  })
}
