// How a command ends. Each way has an exit code that scripts can rely on; they are listed in `svc --help`.

export const EXIT = { ok: 0, failed: 1, usage: 2, unverified: 3, payment: 4, interrupted: 130 } as const

/** The command could not do what it was asked; `hint` says what to do about it. */
export class Failure extends Error {
  override name = 'Failure'
  readonly hint: string | null

  constructor(message: string, hint: string | null = null) {
    super(message)
    this.hint = hint
  }
}

/** What was asked for makes no sense: nothing has been done. */
export class UsageError extends Failure {
  override name = 'UsageError'
}

/** Something is not what it should be. */
export class NotVerified extends Failure {
  override name = 'NotVerified'
}

export class Interrupted extends Error {
  override name = 'Interrupted'
}
