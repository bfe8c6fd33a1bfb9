import { retry } from '@svc/concurrency/retry'
import { ProviderError } from '../provider.ts'

/** How long the store is waited for. */
export interface Patience {
  connectMs: number
  /** Without a byte in either direction, before the first one and later. */
  idleMs: number
  /** How often a step is tried. */
  attempts: number
  /** Before the second try; twice as long before each further one. */
  backoffMs: number
  /** No new try begins after this. */
  giveUpMs: number
}

export const PATIENCE: Patience = {
  connectMs: 10_000,
  idleMs: 60_000,
  attempts: 4,
  backoffMs: 250,
  giveUpMs: 90_000,
}

/** Trouble that may be over in a moment. */
export class PassingTrouble extends ProviderError {
  constructor(cause: unknown) {
    super('unavailable', cause)
  }
}

/** Does a step that may be done twice, again and again while its trouble may pass. */
export function retrying<T>({ attempts, backoffMs, giveUpMs }: Patience, step: () => Promise<T>, signal?: AbortSignal) {
  const isRetryable = (error: unknown) => error instanceof PassingTrouble
  return retry(step, { attempts, backoffMs, giveUpMs, isRetryable, signal })
}
