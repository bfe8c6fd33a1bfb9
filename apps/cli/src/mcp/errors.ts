// The errors of tool calls. `Failure` and similar classes are for the command itself.

import type { ServerCode } from './explain/topics.ts'

/** The server refuses a call. `hint` is the next step; by default, the one that `explain` gives for the code. */
export class Refusal extends Error {
  override name = 'Refusal'
  /** Read by programs. */
  readonly code: ServerCode
  readonly hint: string | null

  constructor(code: ServerCode, message: string, hint: string | null = null) {
    super(message)
    this.code = code
    this.hint = hint
  }
}

/** The client has to pay: carries an x402 offer. */
export class PaymentRequired extends Error {
  override name = 'PaymentRequired'
  readonly offer: Record<string, unknown>

  constructor(offer: object) {
    super('payment required')
    this.offer = { ...offer }
  }
}
