// How a call of a tool fails; `Failure` and its like are for the command itself.

/** The server refuses a call; `hint` says what to do about it. */
export class Refusal extends Error {
  override name = 'Refusal'
  /** For programs. */
  readonly code: string
  readonly hint: string | null

  constructor(code: string, message: string, hint: string | null = null) {
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
