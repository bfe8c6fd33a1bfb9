// Errors and exit codes. Scripts can rely on the exit codes; `svc --help` lists them.

export const EXIT = { ok: 0, failed: 1, usage: 2, unverified: 3, payment: 4, interrupted: 130 } as const

/** The command failed; `hint` is the next step. */
export class Failure extends Error {
  override name = 'Failure'
  readonly hint: string | null

  constructor(message: string, hint: string | null = null, cause?: unknown) {
    super(message, { cause })
    this.hint = hint
  }
}

/** The command line is invalid; nothing was done. */
export class UsageError extends Failure {
  override name = 'UsageError'
}

/** The arguments cannot be parsed. */
export class Misuse extends UsageError {
  override name = 'Misuse'
  /** `svc put` */
  readonly command: string

  constructor(command: string, message: string) {
    super(message, `${command} --help`)
    this.command = command
  }
}

/** Evidence, keys or bytes do not match what they should be. */
export class NotVerified extends Failure {
  override name = 'NotVerified'
}

export class Interrupted extends Error {
  override name = 'Interrupted'
}
