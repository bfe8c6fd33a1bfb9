// What a client throws. Each says what a program can do about it; the text is for people.

import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { ErrorBody, ErrorCode } from '@svc/api/errors'

/** Who did, or did not, answer. */
export type ServiceName = 'gateway' | 'agent service'

/** The gateway, or the agent service, answered, and refused. */
export class GatewayError extends Error {
  override name = 'GatewayError'
  readonly status: number
  /** As the interface names it; `http_<status>` for an answer that came from something in between. */
  readonly code: ErrorCode | `http_${number}`
  readonly hint: string | null
  readonly details: Readonly<Record<string, unknown>>
  /** Of a `validation_error`: each input that is wrong. */
  readonly inputs: NonNullable<ErrorBody['detail']>
  readonly requestId: string | null
  /** Seconds, where the gateway said when to come back. */
  readonly retryAfter: number | null
  /** After how many attempts it was given up. */
  attempts = 1
  service: ServiceName = 'gateway'

  constructor(status: number, body: ErrorBody | null, retryAfter: number | null) {
    super(body?.message ?? `the answer was HTTP ${status}, and not the gateway's`)
    this.status = status
    this.code = (body?.error as ErrorCode | undefined) ?? `http_${status}`
    this.hint = body?.hint ?? null
    this.details = body?.details ?? {}
    this.inputs = body?.detail ?? []
    this.requestId = body?.request_id ?? null
    this.retryAfter = retryAfter
  }
}

/** No answer, or none that can be read. Whether the gateway did what was asked is not known. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
  attempts = 1
  service: ServiceName = 'gateway'
}

/** A service says what cannot be true: something it signed, derived or was told is otherwise. */
export class UntrueAnswer extends Error {
  override name = 'UntrueAnswer'
}

/** Bytes that are not those they should be. */
export class BytesDiffer extends Error {
  override name = 'BytesDiffer'
  readonly filename: string
  readonly expected: string
  readonly actual: string

  constructor(filename: string, expected: string, actual: string) {
    super(`the bytes of ${JSON.stringify(filename)} are ${actual}, not ${expected}`)
    this.filename = filename
    this.expected = expected
    this.actual = actual
  }
}

/** Whether a payer's money is where it was. */
export type Money = 'not_moved' | 'may_have_moved' | 'moved'

export class PaymentError extends Error {
  override name = 'PaymentError'
  readonly money: Money
  /** The payment, where one was signed. */
  readonly tx: string | null

  constructor(money: Money, message: string, { tx = null, cause }: { tx?: string | null; cause?: unknown } = {}) {
    super(message, { cause })
    this.money = money
    this.tx = tx
  }
}

/** The agent service works for subscribers only. */
export class NotSubscribed extends Error {
  override name = 'NotSubscribed'
  /** What thirty days would cost. */
  readonly quote: SubscriptionQuote

  constructor(quote: SubscriptionQuote) {
    super('there is no paid subscription to the agent service')
    this.quote = quote
  }
}

export function isGatewayError(error: unknown, ...codes: ErrorCode[]): error is GatewayError {
  return error instanceof GatewayError && (codes as string[]).includes(error.code)
}
