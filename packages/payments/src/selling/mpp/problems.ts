// Errors of payment credentials: problem details (RFC 9457) with our own error fields beside them.

import type { ErrorBody } from '@svc/api/errors'
import { ServiceError } from '@svc/service/service-error'

const TITLES = {
  'malformed-credential': 'Malformed Credential',
  'invalid-challenge': 'Invalid Challenge',
  'invalid-payload': 'Invalid Payload',
  'payment-expired': 'Payment Expired',
  'payment-insufficient': 'Payment Insufficient',
  'verification-failed': 'Verification Failed',
}
type ProblemType = keyof typeof TITLES

export function credentialInvalid(
  reason: 'malformed-credential' | 'invalid-challenge' | 'invalid-payload',
  message: string,
): ServiceError {
  return new ServiceError('payment_credential_invalid', `${message}; nothing was changed`, {
    hint: 'repeat the parameters of one challenge unchanged, with a payload of a type that it lists; if you have paid, do not pay again: confirm the transaction at the `confirm_url` of the quote',
    details: { reason: reason.replace('-', '_') },
  })
}

/** The error in the form of the Machine Payments Protocol. Errors that are not about the payment stay unchanged. */
export function asProblem(error: unknown, challenges: string | null = null): unknown {
  if (!(error instanceof ServiceError)) return error
  const type = problemType(error)
  return type === null ? error : new PaymentProblem(error, type, challenges)
}

function problemType(error: ServiceError): ProblemType | null {
  const reason = error.body('').details?.reason
  switch (error.code) {
    case 'payment_credential_invalid':
      return String(reason).replace('_', '-') as ProblemType // as `credentialInvalid` wrote it
    case 'quote_expired':
      return 'payment-expired'
    case 'payment_verification_failed':
      return reason === 'amount_too_small' || reason === 'insufficient_funds'
        ? 'payment-insufficient'
        : 'verification-failed'
    case 'tx_not_found':
      return 'verification-failed'
    default:
      return null
  }
}

/**
 * Always 402. `challenges` is what may be paid instead: never after a payment that was made, because a client that
 * follows it would pay twice (ADD-02).
 */
class PaymentProblem extends ServiceError {
  override name = 'PaymentProblem'
  readonly #refusal: ServiceError
  readonly #type: ProblemType

  constructor(refusal: ServiceError, type: ProblemType, challenges: string | null) {
    const { 'retry-after': retryAfter } = refusal.headers
    super(refusal.code, refusal.message, {
      status: 402,
      headers: {
        'content-type': 'application/problem+json; charset=utf-8',
        ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
        ...(challenges !== null && { 'www-authenticate': challenges }),
      },
    })
    this.#refusal = refusal
    this.#type = type
  }

  override body(requestId: string): ErrorBody {
    const type = `https://paymentauth.org/problems/${this.#type}`
    const problem = { type, title: TITLES[this.#type], status: 402, detail: this.message }
    // `detail` is text in problem details; none of these errors has the list that it is elsewhere.
    return { ...problem, ...this.#refusal.body(requestId) } as unknown as ErrorBody
  }
}
