// The errors of a client. Programs read their fields; the texts are for people.

import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { ErrorBody, ErrorCode, UploadDetails } from '@svc/api/errors'

export { networkErrorCode, networkErrorReason } from './network-errors.ts'
export { isShortage } from './wallets/objections.ts'
export type { UploadDetails }

/** The service that the call went to. */
export type ServiceName = 'gateway' | 'agent service'

/** The gateway or the agent service refused the request. */
export class GatewayError extends Error {
  override name = 'GatewayError'
  readonly status: number
  /** The service's error code; `http_<status>` for an answer of a proxy. */
  readonly code: ErrorCode | `http_${number}`
  readonly hint: string | null
  /** The service's page about the code. */
  readonly docsUrl: string | null
  readonly details: Readonly<Record<string, unknown>>
  /** The invalid inputs of a `validation_error`. */
  readonly inputs: NonNullable<ErrorBody['detail']>
  readonly requestId: string | null
  /** Seconds from the Retry-After header. */
  readonly retryAfter: number | null
  /** The number of attempts made. */
  attempts = 1
  service: ServiceName = 'gateway'

  constructor(status: number, body: ErrorBody | null, retryAfter: number | null) {
    super(body?.message ?? `HTTP ${status}, and the answer is not from the gateway`)
    this.status = status
    this.code = (body?.error as ErrorCode | undefined) ?? `http_${status}`
    this.hint = body?.hint ?? null
    this.docsUrl = webAddress(body?.docs_url)
    this.details = body?.details ?? {}
    this.inputs = body?.detail ?? []
    this.requestId = body?.request_id ?? null
    this.retryAfter = retryAfter
  }
}

/** There was no readable answer. Whether the gateway carried out the request is unknown. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
  attempts = 1
  service: ServiceName = 'gateway'
  /** The address of the service, if it did not answer at all. */
  url: string | null = null
}

/** Something else answers at the address: a web page, another service, or a login page of the network. */
export class NotThisService extends NoAnswer {
  override name = 'NotThisService'
}

/** A service's answer contradicts its signatures, its derived ids or the request. */
export class UntrueAnswer extends Error {
  override name = 'UntrueAnswer'
}

/** Bytes differ from their expected hash. */
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

/** A file cannot be decrypted. No part of it may be used. */
export class DecryptionError extends Error {
  override name = 'DecryptionError'
  readonly code: 'wrong_key' | 'damaged' | 'unsupported'

  constructor(code: DecryptionError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** Whether the payer's money has moved. */
export type Money = 'not_moved' | 'may_have_moved' | 'moved'

export class PaymentError extends Error {
  override name = 'PaymentError'
  readonly money: Money
  /** The transaction id of the payment, if one was signed. */
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
  /** A quote for thirty days. */
  readonly quote: SubscriptionQuote

  constructor(quote: SubscriptionQuote) {
    super('there is no paid subscription to the agent service')
    this.quote = quote
  }
}

export function isGatewayError(error: unknown, ...codes: ErrorCode[]): error is GatewayError {
  return error instanceof GatewayError && (codes as string[]).includes(error.code)
}

/** A file with this name exists, and the upload was not allowed to replace it. Nothing was replaced. */
export class NameTaken extends Error {
  override name = 'NameTaken'
  readonly filename: string

  constructor(filename: string) {
    super(`a file ${JSON.stringify(filename)} already exists`)
    this.filename = filename
  }
}

/**
 * Where an upload failed, and what to do next, in the form of the gateway's own errors. `own` is the layer of the
 * program that uploads. Every error that is not an answer of a service belongs to it.
 */
export function uploadDetails(error: unknown, own: UploadDetails['layer'] = 'app_orchestrator'): UploadDetails {
  if (error instanceof GatewayError) {
    const { layer, recovery_hint, next_best_method } = error.details
    return {
      layer: LAYERS.find((one) => one === layer) ?? 'gateway',
      recovery_hint: textOr(error.hint ?? LATER, recovery_hint),
      next_best_method: textOr(SAME, next_best_method),
    }
  }
  if (error instanceof NameTaken) return { layer: 'gateway', recovery_hint: OTHER_NAME, next_best_method: SAME }
  if (error instanceof InvalidFilename) return { layer: own, recovery_hint: OTHER_NAME, next_best_method: SAME }
  const isComplete = error instanceof BytesDiffer
  const recovery_hint = isComplete
    ? 'read the bytes again, and upload all of them'
    : error instanceof NoAnswer
      ? LATER
      : CORRECT
  return { layer: own, recovery_hint, next_best_method: SAME }
}

const LAYERS: readonly UploadDetails['layer'][] = [
  'gateway',
  'provider',
  'viewer',
  'mcp',
  'app_orchestrator',
  'sandbox_runtime',
]

function textOr(otherwise: string, value: unknown): string {
  return typeof value === 'string' ? value : otherwise
}

const SAME = 'the same'
const LATER = 'upload again later: files that are already stored are kept'
const OTHER_NAME = 'upload under another name'
const CORRECT = 'correct what the message names, and upload again'

/** A filename that every gateway refuses. No request was made. */
export class InvalidFilename extends RangeError {
  override name = 'InvalidFilename'
}

/** Accepts only web addresses, because the page of a service is shown to people who open it. */
function webAddress(text: unknown): string | null {
  return typeof text === 'string' && /^https?:\/\/[\x21-\x7e]+$/.test(text) ? text : null
}
