// The error type that operations throw. Its code determines the status; `service.ts` turns it into a response.

import { ERROR_STATUS, type ErrorBody, type ErrorCode } from '@svc/api/errors'

export interface ErrorExtras {
  /** The caller's next step. */
  hint?: string
  details?: Record<string, unknown>
  headers?: Record<string, string>
  /** Overrides the status of the code, for codes with two. */
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

/** A response lists this many problems, and repeats this much of a client's text. */
const MAX_PROBLEMS = 20
const MAX_CHARACTERS = 300
const HINT = 'nothing was changed: correct the fields in `detail`; /openapi.json describes every request'

export class ValidationError extends ServiceError {
  override name = 'ValidationError'
  readonly #inputs: readonly InvalidInput[]

  constructor(...inputs: [InvalidInput, ...InvalidInput[]]) {
    const named = inputs.slice(0, MAX_PROBLEMS).map(cutTexts)
    const more = inputs.length > named.length ? [`and ${inputs.length - named.length} more`] : []
    super('validation_error', [...named.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`), ...more].join('; '), {
      hint: HINT,
    })
    this.#inputs = named
  }

  override body(requestId: string): ErrorBody {
    const detail = this.#inputs.map((input) => ({ ...input, type: 'value_error' }))
    return { ...super.body(requestId), detail }
  }
}

function cutTexts({ loc, msg }: InvalidInput): InvalidInput {
  return { loc: loc.map((part) => (typeof part === 'string' ? cut(part) : part)), msg: cut(msg) }
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text
}
