// The one error type that operations throw. Its code determines the status; `service.ts` turns it into a response.

import { ERROR_STATUS, type ErrorBody, type ErrorCode } from '@svc/api/errors'

export interface ErrorExtras {
  /** What the caller can do next. */
  hint?: string
  details?: Record<string, unknown>
  headers?: Record<string, string>
  /** Overrides the status of the code, where one code has two. */
  status?: number
  cause?: unknown
}

export class ServiceError extends Error {
  override name = 'ServiceError'
  readonly code: ErrorCode
  readonly status: number
  readonly headers: Record<string, string>
  readonly #extras: ErrorExtras

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, { cause: extras.cause })
    this.code = code
    this.status = extras.status ?? ERROR_STATUS[code]
    this.headers = extras.headers ?? {}
    this.#extras = extras
  }

  body(requestId: string): ErrorBody {
    const { hint, details } = this.#extras
    return {
      error: this.code,
      message: this.message,
      ...(hint && { hint }),
      ...(details && { details }),
      request_id: requestId,
    }
  }
}

export interface InvalidInput {
  /** Begins with `body`, `query`, `path` or `header`. */
  loc: (string | number)[]
  msg: string
}

export class ValidationError extends ServiceError {
  override name = 'ValidationError'
  readonly #inputs: readonly [InvalidInput, ...InvalidInput[]]

  constructor(...inputs: [InvalidInput, ...InvalidInput[]]) {
    super('validation_error', inputs.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '))
    this.#inputs = inputs
  }

  override body(requestId: string): ErrorBody {
    const detail = this.#inputs.map((input) => ({ ...input, type: 'value_error' }))
    return { ...super.body(requestId), detail }
  }
}
